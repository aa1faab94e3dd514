//! What counts as a change: situations of real repositories, each with the right skip or run, and
//! what is remembered from one finish to the next.
#![expect(clippy::unwrap_used, reason = "a failure to set up is a failed test")]
#![expect(dead_code, reason = "shares its support with another target")]

#[path = "support/finish.rs"]
mod support;

use std::fs;
use std::path::Path;
use support::World;

/// Notes that it ran, outside the repository; so is its configuration.
const CHECK: &str = "[finish]\n[[finish.checks]]\ncommand = \"echo ran >>$HOME/ran\"\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Run,
    Skip,
}
use Expected::{Run, Skip};

/// Name, what happens before the session starts, what happens in it, and whether the check runs.
type Situation = (&'static str, &'static str, &'static str, Expected);

const FILES: &[Situation] = &[
    ("nothing happens", "", "", Skip),
    ("a file is edited", "", "echo x >>kept.txt", Run),
    (
        "an edit of the same size with the old time",
        "",
        "touch -r kept.txt ../time; printf 'KEPT\\n' >kept.txt; touch -r ../time kept.txt",
        Run,
    ),
    (
        "a byte within a long file, with the old time",
        "head -c 300000 /dev/zero >long",
        "touch -r long ../time; printf x | dd of=long bs=1 seek=150000 conv=notrunc 2>&1; touch -r ../time long",
        Run,
    ),
    ("a file is touched", "", "touch kept.txt", Skip),
    (
        "a file is written anew with what it held",
        "",
        "cp kept.txt ../copy; rm kept.txt; cp ../copy kept.txt",
        Skip,
    ),
    (
        "an edit is taken back",
        "",
        "cp kept.txt ../copy; echo x >>kept.txt; cat ../copy >kept.txt",
        Skip,
    ),
    ("an edit was there before", "echo x >>kept.txt", "", Skip),
    ("a file becomes executable", "", "chmod +x kept.txt", Run),
    ("a file becomes executable and no more", "", "chmod +x kept.txt; chmod -x kept.txt", Skip),
    ("a mode where git ignores modes", "git config core.fileMode false", "chmod +x kept.txt", Run),
    ("a file is renamed", "", "mv kept.txt other.txt", Run),
    ("a file is renamed in its letters' case", "", "mv kept.txt Kept.txt", Run),
    ("a file is renamed and back", "", "mv kept.txt other; mv other kept.txt", Skip),
    ("a file is deleted", "", "rm kept.txt", Run),
    ("a file was deleted before", "rm kept.txt", "", Skip),
    ("an untracked file appears", "", "echo x >new", Run),
    ("an untracked file deep below appears", "", "mkdir -p a/b/c; echo x >a/b/c/new", Run),
    ("an untracked file is edited", "echo x >new", "echo y >new", Run),
    ("an untracked file is deleted", "echo x >new", "rm new", Run),
    ("an empty directory appears", "", "mkdir empty", Skip),
    ("an ignored file appears", "", "mkdir ignored; echo x >ignored/new; echo x >a.log", Skip),
    ("an ignored file is edited", "echo x >a.log", "echo y >a.log", Skip),
    (
        "a tracked file that is ignored too is edited",
        "echo x >a.log; git add -f a.log",
        "echo y >a.log",
        Run,
    ),
    ("a file becomes ignored", "echo x >new", "echo new >>.git/info/exclude", Run),
    (
        "a file that the person's own settings ignore",
        "echo '*.own' >$HOME/ignore; git config --global core.excludesFile $HOME/ignore",
        "echo x >a.own",
        Skip,
    ),
    ("a named pipe appears", "", "mkfifo pipe", Skip),
    ("a link is set to another target", "ln -s kept.txt link", "ln -sfn src link", Run),
    ("a link is made anew", "ln -s kept.txt link", "rm link; ln -s kept.txt link", Skip),
    (
        "what a link leads to outside is edited",
        "echo x >../out; ln -s ../out link",
        "echo y >../out",
        Skip,
    ),
    ("a link that leads nowhere appears", "", "ln -s nowhere link", Run),
    ("a link becomes the file it led to", "ln -s kept.txt link", "rm link; cp kept.txt link", Run),
    (
        "a file becomes a directory",
        "",
        "rm kept.txt; mkdir kept.txt; echo kept >kept.txt/kept",
        Run,
    ),
    ("a directory becomes a file", "", "rm -r src; echo x >src", Run),
    ("a directory becomes a link to itself elsewhere", "", "mv src ../src; ln -s ../src src", Run),
    (
        "a name with a newline",
        "n=\"$(printf 'a\\nb')\"; echo x >\"$n\"; git add -A",
        "echo y >\"$(printf 'a\\nb')\"",
        Run,
    ),
    ("a name with a newline, unchanged", "echo x >\"$(printf 'a\\nb')\"", "", Skip),
    (
        "a name that is no UTF-8",
        "echo x >\"$(printf 'a\\377')\"; git add -A",
        "echo y >\"$(printf 'a\\377')\"",
        Run,
    ),
    ("a name that is no UTF-8, unchanged", "echo x >\"$(printf 'a\\377')\"", "", Skip),
    (
        "names with blanks, quotes and dashes",
        "echo x >'-a \"b\" *'; git add -A",
        "echo y >'./-a \"b\" *'",
        Run,
    ),
];

const REPOSITORIES: &[Situation] = &[
    ("an edit is staged", "echo x >>kept.txt", "git add -A", Skip),
    ("an edit is made and staged", "", "echo x >>kept.txt; git add -A", Run),
    ("an edit is committed", "echo x >>kept.txt", "git commit -qam x", Skip),
    ("an edit is made and committed", "", "echo x >>kept.txt; git commit -qam x", Run),
    ("an untracked file is committed", "echo x >new", "git add -A; git commit -qm x", Skip),
    ("an untracked file is meant to be added", "echo x >new", "git add -N new", Skip),
    ("a file is no longer tracked", "", "git rm -q --cached kept.txt", Skip),
    ("a commit gets another message", "", "git commit -q --amend -m other", Skip),
    (
        "a commit is undone, its files stay",
        "echo x >new; git add -A; git commit -qm x",
        "git reset -q --soft HEAD~1",
        Skip,
    ),
    (
        "a commit is undone with its files",
        "echo x >new; git add -A; git commit -qm x",
        "git reset -q --hard HEAD~1",
        Run,
    ),
    ("changes are put aside", "echo x >>kept.txt", "git stash -q", Run),
    (
        "another branch with other files",
        "git checkout -q -b other; echo o >kept.txt; git commit -qam o; git checkout -q main",
        "git checkout -q other",
        Run,
    ),
    ("another branch with the same files", "", "git checkout -q -b other", Skip),
    (
        "another branch and back",
        "git checkout -q -b other; echo o >kept.txt; git commit -qam o; git checkout -q main",
        "git checkout -q other; git checkout -q main",
        Skip,
    ),
    (
        "a rebase that brings in a file",
        "git checkout -q -b other; echo o >o; git add -A; git commit -qm o; git checkout -q main; echo m >m; git add -A; git commit -qm m",
        "git rebase -q other",
        Run,
    ),
    (
        "a rebase that brings in nothing",
        "git checkout -q -b other; git commit -q --allow-empty -m o; git checkout -q main; echo m >m; git add -A; git commit -qm m",
        "git rebase -q other",
        Skip,
    ),
    ("a conflict stands", "$CONFLICT", "", Skip),
    ("a conflict is resolved", "$CONFLICT", "echo both >kept.txt; git add -A", Run),
    ("objects and references are packed", "", "git gc -q; git pack-refs --all", Skip),
    (
        "there is no commit yet, and an edit",
        "rm -rf .git; git init -q; git add -A",
        "echo x >>kept.txt",
        Run,
    ),
    ("there is no commit yet, and no edit", "rm -rf .git; git init -q", "", Skip),
    ("a submodule stays as it is", "$SUBMODULE", "", Skip),
    ("a submodule's file is edited", "$SUBMODULE", "echo x >>sub/file", Run),
    ("a submodule gets a file", "$SUBMODULE", "echo x >sub/new", Run),
    (
        "a submodule's edit is committed",
        "$SUBMODULE; echo x >>sub/file",
        "git -C sub commit -qam x",
        Skip,
    ),
    (
        "a submodule's submodule is edited",
        "$SUBMODULE; cd sub; $SUBMODULE",
        "echo x >>sub/sub/file",
        Run,
    ),
    ("a submodule is emptied", "$SUBMODULE", "git submodule -q deinit -f sub", Run),
    ("a submodule is empty", "$SUBMODULE; git submodule -q deinit -f sub", "", Skip),
    ("a nested repository appears", "", "git init -q nested", Run),
    (
        "a nested repository's file is edited",
        "git init -q nested; echo x >nested/file",
        "echo y >nested/file",
        Run,
    ),
    ("a nested repository stays as it is", "git init -q nested; echo x >nested/file", "", Skip),
    (
        "a further worktree within is edited",
        "git worktree add -q within",
        "echo x >>within/kept.txt",
        Skip,
    ),
    (
        "names are not quoted by the settings",
        "git config core.quotePath true; echo x >ü; git add -A",
        "echo y >ü",
        Run,
    ),
    (
        "untracked files are not shown by the settings",
        "git config status.showUntrackedFiles no",
        "echo x >new",
        Run,
    ),
    (
        "a monitor says that nothing changed",
        "git config core.fsmonitor true",
        "echo x >>kept.txt",
        Run,
    ),
    ("a monitor is broken", "git config core.fsmonitor 'touch $HOME/asked; false'", "", Skip),
    (
        "submodules are visited by the settings",
        "$SUBMODULE; git config submodule.recurse true",
        "echo x >>sub/file",
        Run,
    ),
    (
        "untracked files are cached",
        "git update-index --untracked-cache; git status",
        "echo x >new",
        Run,
    ),
    ("the index is split", "git update-index --split-index", "echo x >>kept.txt", Run),
    ("the index is split, no edit", "git update-index --split-index", "", Skip),
    ("the index has another format", "git update-index --index-version 4", "", Skip),
    ("a part is checked out", "git sparse-checkout set src", "", Skip),
    (
        "a file is assumed to be unchanged",
        "git update-index --assume-unchanged kept.txt",
        "echo x >>kept.txt",
        Run,
    ),
    (
        "a file is left out of the worktree",
        "git update-index --skip-worktree kept.txt",
        "echo x >>kept.txt",
        Run,
    ),
    ("the index is locked, with an edit", "touch .git/index.lock", "echo x >>kept.txt", Run),
    ("the index is locked, no edit", "touch .git/index.lock", "", Skip),
    ("the index is broken", "", "echo x >.git/index", Run),
    ("the repository is gone", "", "rm -rf .git", Run),
];

const CONFLICT: &str = "git checkout -q -b other; echo o >kept.txt; git commit -qam o; git checkout -q main; \
echo m >kept.txt; git commit -qam m; git merge -q other >/dev/null || true";
const SUBMODULE: &str = "rm -rf $HOME/library; git init -q $HOME/library; echo f >$HOME/library/file; git -C $HOME/library add -A; \
git -C $HOME/library commit -qm l; git -c protocol.file.allow=always submodule --quiet add $HOME/library sub; git commit -qm sub";

fn check_all(situations: &[Situation], configuration: &str) {
    for &(name, before, change, expected) in situations {
        let world = World::repository();
        world.general(configuration);
        let filled =
            |text: &str| text.replace("$CONFLICT", CONFLICT).replace("$SUBMODULE", SUBMODULE);
        world.shell(&filled(before));
        let start = inside_git(&world);
        world.start("claude", "startup");
        assert_eq!(inside_git(&world), start, "{name}: the snapshot left a trace");
        world.shell(&filled(change));
        let stop = inside_git(&world);
        world.stop("claude");
        assert_eq!(inside_git(&world), stop, "{name}: the snapshot left a trace");
        assert!(!world.home.join("asked").exists(), "{name}: the monitor was asked");
        let found = if world.ran().is_empty() { Skip } else { Run };
        assert_eq!(found, expected, "{name}");
        world.stop("claude");
        let again = if world.ran().is_empty() { Skip } else { Run };
        let unknown = matches!(name, "the index is broken" | "the repository is gone");
        assert_eq!(again, if unknown { Run } else { Skip }, "{name}: nothing more happened");
    }
}

/// Every file of git's own with its size and times. Whoever reads a split index, `git status` too,
/// renews the time of its shared part, lest it expire.
fn inside_git(world: &World) -> String {
    let list = "find . -path '*/.git*' ! -type d ! -name 'sharedindex*' -printf '%p %s %i %T@ %C@\\n' | sort";
    world.shell(list)
}

#[test]
fn files_that_change_make_a_check_run() {
    check_all(FILES, CHECK);
}

#[test]
fn content_decides_whatever_the_repository_does() {
    check_all(REPOSITORIES, CHECK);
}

#[test]
fn inputs_limit_what_a_check_looks_at() {
    let inputs = "inputs = [\"src/*.ts\", \"sub/**\", \"deep/**/x\"]\n";
    let situations: &[Situation] = &[
        ("another file is edited", "", "echo x >>kept.txt", Skip),
        ("an input is edited", "", "echo x >>src/code.ts", Run),
        ("an input appears", "", "echo x >src/new.ts", Run),
        ("an input goes", "", "rm src/code.ts", Run),
        ("an input is renamed to something else", "", "mv src/code.ts src/code.js", Run),
        ("a file below, where the star does not reach", "mkdir src/a", "echo x >src/a/b.ts", Skip),
        ("two stars reach any depth", "mkdir -p deep/a/b", "echo x >deep/a/b/x", Run),
        ("a submodule's file", "$SUBMODULE", "echo x >>sub/file", Run),
    ];
    check_all(situations, &format!("{CHECK}{inputs}"));
}

#[test]
fn a_worktree_is_a_repository() {
    for (change, expected) in [("", Skip), ("echo x >>kept.txt", Run)] {
        let mut world = World::repository();
        world.general(CHECK);
        world.shell("git worktree add -q ../tree");
        world.root = world.home.join("tree");
        world.start("codex", "startup");
        world.shell(change);
        world.stop("codex");
        assert_eq!(world.ran().is_empty(), expected == Skip, "{change}");
    }
}

#[test]
fn without_git_or_outside_a_repository_every_check_runs() {
    let world = World::repository();
    world.general(CHECK);
    world.program("git", "#!/bin/sh\nexit 127\n");
    world.start("claude", "startup");
    let plain = World::directory();
    plain.general(CHECK);
    plain.start("claude", "startup");
    for world in [&world, &plain] {
        for _ in 0..2 {
            world.stop("claude");
            assert_eq!(world.ran(), ["ran"]);
        }
    }
}

#[test]
fn the_surroundings_name_no_other_repository() {
    let world = World::repository();
    world.general(CHECK);
    let other = World::repository();
    let shell = format!(
        "GIT_DIR={0}/.git GIT_WORK_TREE={0} GIT_INDEX_FILE=/x exec \"$@\"",
        other.root.display()
    );
    let start = format!(
        "{{\"session_id\":\"s\",\"cwd\":\"{}\",\"source\":\"startup\"}}",
        world.root.display()
    );
    world.below(&shell, "claude", "session-start", &start);
    let stop = || world.below(&shell, "claude", "stop", &world.stop_payload("s", 0));
    stop();
    assert!(world.ran().is_empty());
    world.write("new", "x");
    stop();
    assert_eq!(world.ran(), ["ran"]);
}

#[test]
fn each_check_compares_with_its_own_last_run() {
    let world = World::repository();
    world.general(
        "[finish]\nfail_fast = true\n[[finish.checks]]\nname = \"a\"\ncommand = \"echo a >>$HOME/ran; test ! -e fail\"\n\
         [[finish.checks]]\nname = \"b\"\ncommand = \"echo b >>$HOME/ran\"\ninputs = [\"*.txt\"]\n",
    );
    world.start("claude", "startup");
    let expect = |change: &str, ran: &[&str], why: &str| {
        world.shell(change);
        world.stop("claude");
        assert_eq!(world.ran(), ran, "{why}");
    };
    expect("touch fail; echo x >kept.txt", &["a"], "the first fails, the second is not reached");
    expect("", &["a"], "a check that failed stays due");
    expect("rm fail", &["a", "b"], "the second has not seen the change yet");
    expect("", &[], "all is seen");
    expect("echo y >new", &["a"], "no input of the second");
    expect("touch fail; echo y >kept.txt", &["a"], "fails again");
    expect("rm fail; echo x >kept.txt", &["a"], "the second's inputs are what it saw last");
}

#[test]
fn what_checks_change_makes_them_run_once_more_and_no_oftener() {
    let world = World::repository();
    world.general(
        "[finish]\n[[finish.checks]]\ncommand = \"echo look >>$HOME/ran\"\n\
         [[finish.checks]]\ncommand = \"echo stamp >>$HOME/ran; date +%N >stamp\"\n",
    );
    world.start("claude", "startup");
    world.stop("claude");
    assert!(world.ran().is_empty());
    world.write("new", "x");
    for expected in [2, 2, 0, 0] {
        world.stop("claude");
        assert_eq!(world.ran().len(), expected);
    }
    world.write("new", "y");
    world.stop("claude");
    assert_eq!(world.ran().len(), 2, "the twin: somebody else's change");
}

#[test]
fn a_compaction_keeps_the_first_snapshot_and_a_resumption_takes_a_new_one() {
    for (source, expected) in
        [("compact", Run), ("resume", Skip), ("startup", Skip), ("clear", Skip), ("fork", Skip)]
    {
        let world = World::repository();
        world.general(CHECK);
        world.start("claude", "startup");
        world.write("new", "x");
        world.start("claude", source);
        world.stop("claude");
        assert_eq!(world.ran().is_empty(), expected == Skip, "{source}");
    }
}

#[test]
fn a_failure_outlives_a_resumption() {
    let world = World::repository();
    world.general(
        "[finish]\n[[finish.checks]]\ncommand = \"echo ran >>$HOME/ran; test ! -e bad\"\n",
    );
    world.start("codex", "startup");
    world.write("bad", "");
    assert!(world.stop("codex").contains("\"block\""));
    world.start("codex", "resume");
    assert!(world.stop("codex").contains("\"block\""));
}

#[test]
fn a_check_runs_again_after_the_background_tasks() {
    let world = World::repository();
    world.general(CHECK);
    world.start("claude", "startup");
    world.write("new", "x");
    for (tasks, expected) in [(1, 1), (1, 0), (0, 1), (0, 0)] {
        world.stop_of("claude", "s", tasks);
        assert_eq!(world.ran().len(), expected, "{tasks}");
    }
}

#[test]
fn sessions_of_one_repository_know_nothing_of_each_other() {
    let world = World::repository();
    world.general(CHECK);
    for session in ["one", "two"] {
        let payload = format!(
            "{{\"session_id\":\"{session}\",\"cwd\":\"{}\",\"source\":\"startup\"}}",
            world.root.display()
        );
        world.hook("claude", "session-start", &payload);
    }
    world.write("new", "x");
    for session in ["one", "two"] {
        world.stop_of("claude", session, 0);
        assert_eq!(world.ran(), ["ran"], "{session}");
    }
}

#[test]
fn broken_or_lost_state_makes_checks_run() {
    for damage in ["echo x >$f", "rm $f", "truncate -s 100 $f", "head -c 900 /dev/urandom >$f"] {
        let world = World::repository();
        world.general(CHECK);
        world.start("claude", "startup");
        world.shell(&format!("for f in $HOME/.cache/i-insist/finish/*; do case $f in *.files) continue ;; esac; {damage}; done"));
        world.stop("claude");
        assert_eq!(world.ran(), ["ran"], "{damage}");
        // What is known of the files may be lost at any time: it is only what saves reading them.
        world.shell(&format!("for f in $HOME/.cache/i-insist/finish/*.files; do {damage}; done"));
        world.stop("claude");
        assert!(world.ran().is_empty(), "{damage}");
        world.write("new", "x");
        world.stop("claude");
        assert_eq!(world.ran(), ["ran"], "{damage}");
    }
}

#[test]
fn state_is_private_and_that_of_long_ended_sessions_goes() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::repository();
    world.general(CHECK);
    world.start("claude", "startup");
    let folder = world.home.join(".cache/i-insist/finish");
    for entry in fs::read_dir(&folder).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let left = |name: &str| Path::new(&folder).join(name).exists();
    world.shell(
        "cd $HOME/.cache/i-insist/finish; touch -d '61 days ago' old; touch -d '59 days ago' young",
    );
    world.start("claude", "resume");
    assert_eq!((left("old"), left("young")), (false, true));
}
