//! Each row that is caught stands beside its harmless twins.

use super::*;
use crate::event::Change;
use crate::shell;
use std::fs;
use std::path::PathBuf;

/// A home and a project in a directory of their own; gone with the value.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let root =
            std::env::temp_dir().join(format!("i-insist-protect-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&root));
        let root = {
            fs::create_dir_all(&root).unwrap();
            root.canonicalize().unwrap()
        };
        for file in [
            "bin/i-insist",
            "home/.i-insist/i-insist.toml",
            "home/.claude/settings.json",
            "home/.codex/config.toml",
            "home/.local/state/i-insist/audit.jsonl",
            "home/.cache/i-insist/approvals/x",
            "home/.cache/pip/x",
            "home/.config/steer/config.toml",
            "home/notes.txt",
            "p/.i-insist/i-insist.toml",
            "p/.i-insist/check.py",
            "p/.claude/settings.json",
            "p/.claude/skills/a.md",
            "p/.codex/skills/a.md",
            "p/.github/workflows/ci.yml",
            "p/tools/guard.py",
            "p/src/a.py",
            "p/sub/deep/x",
            "p/evil/.i-insist/a.toml",
            "p/evil/.claude/settings.json",
            "p/template/.i-insist/x.toml",
            "p/plain/a",
            "p/backup/x",
        ] {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        std::os::unix::fs::symlink(".i-insist", root.join("p/rules")).unwrap();
        std::os::unix::fs::symlink(
            root.join("p/.i-insist/i-insist.toml"),
            root.join("p/link.toml"),
        )
        .unwrap();
        Self(root)
    }

    fn guarded(&self) -> Guarded {
        let at = |path: &str| self.0.join(path);
        Guarded::new(
            vec![
                at("home/.i-insist"),
                at("home/.config/steer/config.toml"),
                at("home/.cache/i-insist"),
                at("home/.local/state/i-insist"),
                at("home/.claude/settings.json"),
                at("home/.codex/config.toml"),
                at("p/.i-insist"),
            ],
            vec![at("bin/i-insist"), at("p/tools/guard.py")],
        )
    }

    fn shell(&self, harness: &str, command: &str) -> Option<Touch> {
        let (home, cwd) = (self.0.join("home"), self.0.join("p"));
        let command = command.replace("ROOT", self.0.to_str().unwrap());
        let options = shell::Options {
            cwd: Some(&cwd),
            session_cwd: Some(&cwd),
            home: Some(&home),
            wrappers: &[],
        };
        let parsed = shell::parse(&command, &options);
        let mut event = Event::new(Kind::Shell, harness, "Bash", cwd.clone());
        event.command = Some(command.as_str().into());
        examine(&event, Some(&parsed), &self.guarded(), &home)
    }

    /// All rows at once, so that one run shows every row that fails.
    fn judge(&self, harness: &str, rows: &[(&str, &str)], caught: bool) {
        let wrong: Vec<String> = rows
            .iter()
            .filter_map(|(kind, command)| {
                let touch = self.shell(harness, command);
                (touch.is_some() != caught).then(|| format!("{kind}: {command}\n      {touch:?}"))
            })
            .collect();
        let verb = if caught { "pass" } else { "are caught" };
        assert!(
            wrong.is_empty(),
            "{} rows {verb}:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }

    /// `kind`, commands that are caught, commands that pass.
    fn twins(&self, harness: &str, table: &[(&str, &[&str], &[&str])]) {
        let rows = |caught: bool| -> Vec<(&str, &str)> {
            table
                .iter()
                .flat_map(|(kind, bad, good)| {
                    let commands: &[&str] = if caught { bad } else { good };
                    commands
                        .iter()
                        .map(|command| (*kind, *command))
                        .collect::<Vec<_>>()
                })
                .collect()
        };
        self.judge(harness, &rows(true), true);
        self.judge(harness, &rows(false), false);
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn shell_commands() {
    Tree::new("shell").twins("claude", TABLE);
}

/// Kind, what is caught, what passes.
const TABLE: &[(&str, &[&str], &[&str])] = &[
    (
        "deleting and moving",
        &[
            "rm .i-insist/i-insist.toml",
            "rm -rf .i-insist",
            "rm -f ./.i-insist//i-insist.toml",
            "rm -- .i-insist/a",
            "rm -rf src/../.i-insist",
            "rm -rf ~/.i-insist",
            "rm -rf $HOME/.i-insist",
            "rm -rf \"${HOME}/.i-insist/\"",
            "rm .I-Insist/i-insist.toml",
            "rm rules/i-insist.toml",
            "rm .steer.toml",
            "rm .pi-hooks.json .pi/pi-hooks.json",
            "mv .i-insist .i-insist-off",
            "mv .i-insist/i-insist.toml /tmp",
            "unlink .i-insist/i-insist.toml",
            "shred -u .i-insist/i-insist.toml",
            "rmdir .i-insist",
            "r''m .i-insist/a",
            "\\rm .i-insist/a",
            "/bin/rm .i-insist/a",
            "trash .i-insist",
            "git rm -r .i-insist",
            "git mv .i-insist x",
        ],
        &[
            "rm .i-insist-notes",
            "rm my.i-insist/a",
            "rm .i-insist.bak",
            "rm -rf node_modules target",
            "rm *",
            "rm -f *.log",
            "rm -rf *.egg-info build/",
            "mv a b",
            "mv src lib",
            "rmdir empty",
            "rm -rf plain",
            "rm .claude/skills/a.md",
            "git rm -r src",
            "git mv src lib",
            "git rm --cached .i-insist/i-insist.toml",
            "rm -rf \"$TMPDIR/x\"",
        ],
    ),
    (
        "ancestors",
        &[
            "rm -rf ROOT/p",
            "rm -rf .",
            "mv ROOT/home ROOT/house",
            "ln -s ROOT/p ROOT/q",
            "cd .. && rm -rf p",
            "cd .. && mv p q",
            "rm -rf evil",
            "mv evil /tmp/x",
            "rm -rf .claude",
            "mv .claude .claude-off",
            "rm -rf ~/.cache",
            "rm -rf ~/.local/state",
            "cd .. && rm -rf *",
            "mv tools t",
        ],
        &[
            "rm -rf sub/deep",
            "rm -rf ~/.cache/pip",
            "rm -rf .cache",
            "rm -rf .claude/skills",
            "rm -rf .codex/skills",
            "mv sub/deep sub/deeper",
            "rm -r ROOT/p/plain",
            "rm -rf ./*.tmp",
            "mkdir -p .claude/commands",
            "cd .. && rm *.txt",
        ],
    ),
    (
        "writing",
        &[
            "echo x > .i-insist/a.toml",
            "echo x >> .i-insist/a.toml",
            "echo x >| .i-insist/a.toml",
            "echo x &> .i-insist/a.toml",
            ">.i-insist/a.toml echo x",
            "> .i-insist/i-insist.toml",
            ": > link.toml",
            "{ echo x; echo y; } > .i-insist/a.toml",
            "cat > .i-insist/a.toml <<'EOF'\nx\nEOF",
            "exec 3>.i-insist/a.toml",
            "echo x <> .i-insist/a.toml",
            "echo x | tee .i-insist/a.toml",
            "echo x | tee -a README .claude/settings.json",
            "echo x | sudo tee /etc/claude-code/managed-settings.json",
            "cat x > >(tee .i-insist/a.toml)",
            "touch .i-insist/new.toml",
            "truncate -s0 .i-insist/i-insist.toml",
            "chmod 000 .i-insist/i-insist.toml",
            "chown nobody .i-insist",
            "mkdir .i-insist",
            "dd if=/dev/null of=.i-insist/i-insist.toml",
            "echo {} > ~/.claude/settings.json",
            "echo {} > .claude/settings.local.json",
            "echo {} > .codex/hooks.json",
            "echo x >> ~/.codex/config.toml",
            "echo {} > .pi/settings.json",
            "echo x > ~/.pi/agent/extensions/a.ts",
            "echo x > ~/.config/steer/config.toml",
            "echo true > ~/.cache/i-insist/approvals/x",
            "gzip .i-insist/i-insist.toml",
            "split -b 1 x .i-insist/p",
            "sort -o .i-insist/a.toml x",
            "curl -sLo .i-insist/a.toml http://h/x",
            "wget -O .claude/settings.json http://h/x",
            "wget -P .claude http://h/settings.json",
            "curl --output=.i-insist/a http://h/x",
            "uniq a .i-insist/a.toml",
            "xxd -r x .i-insist/a.toml",
            "yq -i '.a=1' .i-insist/a.yml",
            "openssl enc -in x -out .i-insist/a",
            "cp /dev/null .i-insist/i-insist.toml",
            "sponge .i-insist/a < x",
            "mount --bind /tmp/x .i-insist",
            "prettier --write .i-insist/a.json",
            "taplo fmt .i-insist/i-insist.toml",
            "npx prettier --write .claude/settings.json",
            "$CMD .i-insist/a.toml",
            "$(which rm) .i-insist/a.toml",
        ],
        &[
            "echo .i-insist > out",
            "echo x > .i-insist-notes",
            "echo x > docs/i-insist",
            "cat .i-insist/a.toml > copy.toml",
            "grep x < .i-insist/a.toml",
            "echo x 2>&1 >/dev/null",
            "echo x | tee README",
            "dd if=.i-insist/i-insist.toml of=/tmp/x",
            "echo x > .claude/skills/b.md",
            "echo x > .codex/skills/b.md",
            "echo x > .github/workflows/ci.yml",
            "echo x > settings.json",
            "echo x > config.toml",
            "touch src/b.py",
            "chmod +x src/a.py",
            "sort .i-insist/a.toml -o /tmp/x",
            "curl -T .i-insist/a.toml http://h/",
            "gzip -c .i-insist/i-insist.toml",
            "wget http://h/settings.json",
            "npx prettier --check src/a.ts",
            "make -j4 test",
            "cargo build --release",
        ],
    ),
    (
        "reading and mentioning",
        &[
            "cat .i-insist/a.toml; rm .i-insist/a.toml",
            "ls .i-insist && touch .i-insist/x",
        ],
        &[
            "echo '.i-insist'",
            "echo \"see .i-insist/a.toml\"",
            "printf '%s\\n' .i-insist",
            "git commit -m 'document .i-insist/a.toml'",
            "git commit -m \"rm -rf .i-insist\" && git push",
            "git add .i-insist",
            "git log -- .i-insist",
            "git diff HEAD .i-insist/i-insist.toml",
            "git show HEAD:.i-insist/i-insist.toml",
            "git status .i-insist",
            "git commit .i-insist/i-insist.toml -m x",
            "git stash list",
            "git grep -n x -- .i-insist",
            "grep -rn 'rm .i-insist' .",
            "rg '.i-insist' -l",
            "cat .i-insist/i-insist.toml",
            "head -5 .i-insist/*.toml",
            "ls -la .i-insist",
            "jq . .claude/settings.json",
            "diff .i-insist/i-insist.toml /tmp/x",
            "sed -n '1,20p' .i-insist/i-insist.toml",
            "sed 's/a/b/' .i-insist/i-insist.toml",
            "sed -n '/.i-insist/p' README.md",
            "awk '{print $1}' .i-insist/i-insist.toml",
            "awk 'NR>=10 && NR<=20' .i-insist/i-insist.toml",
            "awk '/\\.i-insist/ {print}' log",
            "wc -l .i-insist/*",
            "find .i-insist -name '*.toml'",
            "find . -name .i-insist",
            "tree .i-insist",
            "stat .claude/settings.json",
            "sha256sum .i-insist/check.py",
            "test -f .i-insist/i-insist.toml && echo yes",
            "[ -d .i-insist ] || echo none",
            "[[ -f .i-insist/a ]] && cat .i-insist/a",
            "cd .i-insist && ls && cat i-insist.toml",
            "pushd .i-insist; cat i-insist.toml; popd; rm x.tmp",
            "gh pr create --title 'Guard .i-insist' --body 'see .i-insist/a.toml'",
            "gh issue comment 3 --body '.i-insist/a.toml is wrong'",
            "bash -lc 'cat .i-insist/i-insist.toml'",
            "sh -c \"grep x .i-insist/*.toml\"",
            "xargs cat < list",
            "ls .i-insist | xargs -I{} cat .i-insist/{}",
            "for f in .i-insist/*.toml; do cat \"$f\"; done",
            "shellcheck .i-insist/check.sh",
            "# rm .i-insist/a",
            "cat <<'EOF'\nrm .i-insist/a\nEOF",
            "tar cf /tmp/x.tar .i-insist",
            "tar tf .i-insist/x.tar",
            "zip -r /tmp/x.zip .i-insist",
        ],
    ),
    (
        "running what is protected",
        &[
            "python3 .i-insist/check.py .i-insist/i-insist.toml",
            "echo x > tools/guard.py",
            "rm tools/guard.py",
            "chmod -x tools/guard.py",
            "sed -i s/a/b/ tools/guard.py",
            "cp /bin/true ROOT/bin/i-insist",
            "rm ROOT/bin/i-insist",
            "ln -sf /bin/true ROOT/bin/i-insist",
            "mv tools/guard.py tools/x.py",
            "rm tools/*.py",
            "rm -rf *",
        ],
        &[
            "python3 .i-insist/check.py",
            "python3 .i-insist/check.py < event.json",
            ".i-insist/check.py",
            "sh .i-insist/check.sh",
            "bash -x .i-insist/check.sh",
            "node .i-insist/check.js",
            "python3 tools/guard.py",
            "mypy tools/guard.py",
            "ROOT/bin/i-insist check < e.json",
            "cp tools/guard.py /tmp/x",
            "rm tools/*.pyc",
            "chmod +x tools/other.py",
            "cd .i-insist && python3 check.py",
        ],
    ),
    (
        "copies and links",
        &[
            "cp x .i-insist/a.toml",
            "cp x .i-insist",
            "cp -t .i-insist x y",
            "cp --target-directory=.i-insist x",
            "cp -t.i-insist x",
            "cp -r evil/.i-insist .",
            "cp -r evil/.i-insist sub/",
            "cp -r template/. .",
            "mv evil/.i-insist .",
            "cp evil/.claude/settings.json .claude/",
            "cp -r evil/.claude sub/.claude",
            "mv evil/.claude sub/.claude",
            "rsync -a evil/ .i-insist/",
            "rsync -a --delete empty/ .",
            "rsync -a evil/.claude/ .claude/",
            "rsync --remove-source-files -a .i-insist/ /tmp/x",
            "install -m 644 x .i-insist/a.toml",
            "install -d .i-insist/x",
            "ln -s /tmp/x .i-insist",
            "ln -s .i-insist x",
            "ln .i-insist/i-insist.toml x",
            "ln -s ROOT/p/evil/.i-insist",
            "cp -l .i-insist/i-insist.toml x",
            "cp -al .i-insist x",
            "scp host:x .i-insist/a",
            "cp x link.toml",
            "cp -r x/* .claude/",
            "cp -rT evil/.claude .claude",
        ],
        &[
            "cp .i-insist/i-insist.toml /tmp",
            "cp -r .i-insist backup/rules-of-today",
            "cp -r .i-insist ROOT/elsewhere",
            "cp .i-insist/*.toml backup/",
            "cp -r plain sub/",
            "cp -r plain/. .",
            "rsync -a .i-insist/ /tmp/x/",
            "rsync -a src/ backup/",
            "install -m 755 src/a.py sub/a",
            "ln -s src/a.py a",
            "ln -s ../src sub/src",
            "scp .i-insist/i-insist.toml host:",
            "cp docs/*.md .claude/",
            "cp skill.md .claude/skills/",
            "mv skill.md .claude/skills/",
            "cp -a src src2",
        ],
    ),
    (
        "directories",
        &[
            "cd .i-insist && rm x",
            "cd .i-insist; rm -f *",
            "cd .i-insist && echo x > a.toml",
            "pushd .i-insist && rm x",
            "(cd .i-insist && touch x)",
            "cd src && rm ../.i-insist/a",
            "cd ~/.claude && echo {} > settings.json",
            "cd \"$HOME/.claude\" && echo {} > settings.json",
            "cd \"$REPO\" && rm .i-insist/a",
            "cd \"$REPO/.i-insist\" && rm a.toml",
            "cd \"$(git rev-parse --show-toplevel)/.i-insist\" && rm a.toml",
            "cd $(pwd)/.i-insist && cat a && sed -i s/a/b/ a",
            "cd rules && rm i-insist.toml",
            "cd .i-insist && tar xf /tmp/x.tar",
            "cd .i-insist && git clean -fd",
            "cd .i-insist && wget http://h/x",
            "cd .i-insist && python3 -c 'open(\"a.toml\",\"w\")'",
            "git -C .i-insist rm -r a",
            "git --work-tree=.i-insist checkout -- a",
            "git -C .i-insist clean -fd",
            "env -C .i-insist rm a.toml",
            "sudo -D '.i-ins'ist rm a.toml",
            "cd .claude && curl -O http://h/settings.json",
        ],
        &[
            "cd src && rm x",
            "(cd .i-insist && cat a); rm x",
            "cd .i-insist && cat a; cd .. && rm x.tmp",
            "cd \"$REPO\" && rm x",
            "git clean -fd",
            "git -C src clean -fdx",
            "git -C sub rm a",
            "env -C .i-insist cat a.toml",
            "cd .claude/skills && rm a.md",
            "cd .i-insist && git status && git diff",
            "tar xf x.tar -C sub",
            "cd .i-insist; pwd; ls -la | grep toml",
        ],
    ),
    (
        "in place",
        &[
            "sed -i s/a/b/ .i-insist/i-insist.toml",
            "sed -i.bak s/a/b/ .i-insist/i-insist.toml",
            "sed -i -e s/a/b/ .i-insist/i-insist.toml",
            "sed -Ei s/a/b/ .i-insist/i-insist.toml",
            "sed --in-place=.bak s/a/b/ .i-insist/i-insist.toml",
            "sed --in-p s/a/b/ .i-insist/i-insist.toml",
            "sed -n 'w .i-insist/a.toml' x",
            "sed 's/a/b/w .i-insist/a.toml' x",
            "perl -pi -e 's/a/b/' .i-insist/i-insist.toml",
            "perl -i -pe 's/a/b/' link.toml",
            "ruby -i -pe 's/a/b/' .i-insist/a",
            "gawk -i inplace '{print}' .i-insist/a",
            "awk '{print > \".i-insist/a.toml\"}' x",
            "awk '{print > FILENAME}' .i-insist/a.toml",
            "awk 'BEGIN {system(\"rm .i-insist/a\")}'",
            "ed -s .i-insist/a.toml <<< $'1d\\nw'",
            "printf '1d\\nw\\n' | ed .i-insist/a.toml",
            "ex -sc 'wq' .i-insist/a.toml",
            "vim -es -c 'w .i-insist/a.toml' x",
            "patch -p1 <<'EOF'\n--- a/.i-insist/a.toml\n+++ b/.i-insist/a.toml\n@@ -1 +1 @@\n-a\n+b\nEOF",
            "git apply --directory=.i-insist x.diff",
        ],
        &[
            "sed -i s/a/b/ README.md",
            "sed -i 's/.i-insist/x/' README.md",
            "sed -i.bak 's/.i-insist/x/' README.md",
            "sed -i -e 's/.i-insist/x/' README.md",
            "perl -pi -e 's/\\.i-insist/x/' README.md",
            "perl -ne 'print if /x/' README.md",
            "awk '{print > \"out\"}' x",
            "patch -p1 < x.diff",
            "patch -p1 <<'EOF'\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-a\n+b\nEOF",
            "git apply x.diff",
            "sed -n 's/w x/y/p' .i-insist/i-insist.toml",
        ],
    ),
    (
        "interpreters",
        &[
            "python3 -c \"open('.i-insist/a.toml','w')\"",
            "python3 -c 'import shutil; shutil.rmtree(\".i-insist\")'",
            "python3.11 -Ec 'open(\".i-insist/a\",\"w\")'",
            "python3 -c \"from pathlib import Path; (Path.home()/'.claude'/'settings.json').write_text('{}')\"",
            "python3 - <<'EOF'\nopen('.i-insist/a.toml','w')\nEOF",
            "python3 <<EOF\nopen('$HOME/.i-insist/a.toml','w')\nEOF",
            "cat <<'EOF' | python3\nopen('.i-insist/a.toml','w')\nEOF",
            "echo \"open('.i-insist/a','w')\" | python3 -",
            "python3 <(echo \"open('.i-insist/a','w')\")",
            "python3 -c 'import sys; open(sys.argv[1],\"w\")' .i-insist/a",
            "python3 edit.py .i-insist/i-insist.toml",
            "python3 edit.py --out=.i-insist/i-insist.toml",
            "node -e \"fs.rmSync('.i-insist',{recursive:true})\"",
            "node --eval='fs.unlinkSync(\".i-insist/a\")'",
            "perl -e 'unlink \".i-insist/a\"'",
            "ruby -e 'File.delete(\".i-insist/a\")'",
            "php -r 'unlink(\".i-insist/a\");'",
            "deno eval 'Deno.removeSync(\".i-insist\")'",
            "lua -e 'os.remove(\".i-insist/a\")'",
            "uv run python -c \"open('.i-insist/a','w')\"",
            "poetry run python3 -c \"open('.i-insist/a','w')\"",
            "uv run --no-sync rm .i-insist/a",
            "mise exec -- rm .i-insist/a",
            "sqlite3 x.db '.output .i-insist/a.toml'",
            "tmux send-keys 'rm .i-insist/a' Enter",
            "at now <<< 'rm .i-insist/a'",
            "gdb -batch -ex 'shell rm .i-insist/a'",
            "git filter-branch --tree-filter 'rm -rf .i-insist'",
            "git bisect run rm .i-insist/a",
            "python3 -m json.tool a .i-insist/a.json",
        ],
        &[
            "python3 -c 'print(1)'",
            "python3 -c \"print('.i-insist-notes')\"",
            "python3 -c \"open('settings.json')\"",
            "python3 setup.py build",
            "python3 -m pytest tests",
            "node -e 'console.log(1)'",
            "node build.js",
            "python3 tool.py <<'EOF'\n{\"path\": \".i-insist/a\"}\nEOF",
            "echo .i-insist | python3 count.py",
            "uv run pytest -q",
            "npm run build",
            "npm test",
            "npx tsc --noEmit",
            "perl -e 'print 1'",
            "git rebase main",
            "git submodule update",
        ],
    ),
    (
        "nested shells",
        &[
            "bash -c 'rm .i-insist/a'",
            "bash -lc \"echo x > .i-insist/a\"",
            "sh -c 'sh -c \"rm .i-insist/a\"'",
            "eval 'rm .i-insist/a'",
            "bash <<'EOF'\nrm .i-insist/a\nEOF",
            "bash <<< 'rm .i-insist/a'",
            "echo 'rm .i-insist/a' | sh",
            "sudo rm .i-insist/a",
            "env X=1 nohup timeout 5 rm .i-insist/a",
            "bash -c 'rm \"$1\"' _ .i-insist/a",
            "echo $(rm .i-insist/a)",
            "trap 'rm .i-insist/a' EXIT",
            "f() { rm .i-insist/a; }; f",
            "f() { rm \"$1\"; }; f .i-insist/a",
            "if true; then rm .i-insist/a; fi",
            "true && { rm .i-insist/a; }",
            "time -o .i-insist/a ls",
            "strace -o .i-insist/a.toml ls",
            "su -c 'rm .i-insist/a'",
            "bash update.sh .i-insist/i-insist.toml",
            "busybox rm .i-insist/a",
            "watch 'rm .i-insist/a'",
        ],
        &[
            "bash -c 'echo .i-insist'",
            "bash -c 'cat \"$1\"' x",
            "echo $(cat .i-insist/a)",
            "echo 'rm .i-insist/a'",
            "echo 'rm .i-insist/a' | cat",
            "trap 'rm -f x' EXIT",
            "bash run.sh",
            "time ls .i-insist",
        ],
    ),
    (
        "computed operands",
        &[
            "rm $VAR/.i-insist/x",
            "F=.i-insist/a; rm $F",
            "D=$(pwd)/.i-insist; rm -rf \"$D\"",
            "rm $(ls .i-insist/*)",
            "rm \"$(find . -name .i-insist)\"/a",
            "rm `echo .i-insist/a`",
            "for f in .i-insist/*.toml; do rm \"$f\"; done",
            "for f in .i-insist/*; do sed -i s/a/b/ $f; done",
            "for f in $(ls .i-insist/*); do rm $f; done",
            "files=(.i-insist/a b); rm \"${files[@]}\"",
            "find .i-insist -type f | while read -r f; do rm \"$f\"; done",
            "while read -r f; do rm \"$f\"; done < <(find .i-insist -type f)",
            "while read f; do rm $f; done <<< .i-insist/a",
            "echo x > \"$D/.i-insist/a\"",
            "f=$(echo .i-insist/a); echo x > $f",
            "echo x > $(echo .i-insist/a)",
            "export X=.i-insist; bash -c 'rm $X/a'",
            "set -- .i-insist/a; rm \"$@\"",
        ],
        &[
            "rm \"$F\"",
            "TMP=$(mktemp); grep x .i-insist/a > $TMP; rm $TMP",
            "for f in *.log; do rm \"$f\"; done",
            "for f in .i-insist/*; do cat $f; done; for g in *.o; do rm $g; done",
            "rm $(ls *.log)",
            "cat .i-insist/a; rm $(mktemp)",
            "find src -type f | while read f; do touch \"$f\"; done",
            "X=.i-insist; echo $X",
            "F=x; cat .i-insist/a; rm $F",
            "for f in $(grep -rl .i-insist docs); do sed -i s/a/b/ $f; done",
            "echo x > $OUT",
        ],
    ),
    (
        "fed operands",
        &[
            "echo .i-insist/a | xargs rm",
            "ls .i-insist/* | xargs rm",
            "find .i-insist -type f | xargs rm",
            "find . -name '*.toml' | xargs sed -i s/a/b/",
            "find . -type f -print0 | xargs -0 rm",
            "printf '%s\\0' .i-insist/a | xargs -0 rm",
            "xargs rm <<< .i-insist/a",
            "xargs -I{} rm .i-insist/{} < list",
            "parallel rm ::: .i-insist/a",
            "git ls-files .i-insist | xargs rm",
            "rg --files .i-insist | xargs rm",
            "grep -rl x .i-insist | xargs sed -i s/x/y/",
            "echo .i-insist/a | xargs -I{} sh -c 'rm {}'",
        ],
        &[
            "ls *.log | xargs rm",
            "find . -name '*.pyc' | xargs rm",
            "grep -rl '.i-insist' docs | xargs sed -i s/a/b/",
            "find .i-insist -type f | xargs cat",
            "cat .i-insist/a; ls *.o | xargs rm",
            "git ls-files src | xargs wc -l",
            "grep -rl foo src | xargs sed -i 's/foo/bar/'",
            "xargs rm < list",
        ],
    ),
    (
        "searches",
        &[
            "find .i-insist -delete",
            "find . -delete",
            "find . -name '*.toml' -delete",
            "find . -name 'i-insist*' -exec rm {} \\;",
            "find . -path './.i-insist/*' -delete",
            "find . -type f -exec sed -i s/a/b/ {} +",
            "find . -name .i-insist -exec rm -rf {} +",
            "find .i-insist -exec foo {} \\;",
            "find . -not -name '*.py' -delete",
            "find . -name '*.py' -o -name '*.toml' -delete",
            "find ~ -name settings.json -delete",
            "find .i-insist -fprint x",
            "fd . .i-insist -x rm",
            "fd -H toml -x sed -i s/a/b/",
            "find . -type f -exec sh -c 'rm \"$1\"' _ {} \\;",
        ],
        &[
            "find . -name '*.pyc' -delete",
            "find . -name '*.pyc' -not -path './.venv/*' -delete",
            "find . -type d -empty -delete",
            "find . -name '*.pyc' -o -name '*.pyo' -delete",
            "find . -path '*/target/*' -delete",
            "find src -type f -delete",
            "find plain -delete",
            "find . -name '*.toml' -exec cat {} \\;",
            "find . -type f -exec grep -l x {} +",
            "find . -name node_modules -prune -o -name '*.log' -delete",
            "find . -type f -exec sh -c 'wc -l \"$1\"' _ {} \\;",
            "fd -e pyc -x rm",
        ],
    ),
    (
        "wildcards",
        &[
            "rm .i-*/a.toml",
            "rm -rf .i*",
            "rm -rf .*",
            "rm .[a-z]-insist/x",
            "rm .[[:alpha:]]-insist/x",
            "rm .??*/a",
            "rm .claude/*.json",
            "rm .claude/set*",
            "rm {.i-insist,x}/a",
            "rm .i-insis{t,s}/a",
            "rm -rf ~/.loc*/state/i-*",
            "shopt -s dotglob; rm -rf *",
            "foo .i-ins*",
            "rm .i-insist/*",
        ],
        &[
            "rm *.toml",
            "rm .git*",
            "rm .claude/*.md",
            "rm -rf .c[[:alpha:]]che",
            "rm */a.toml",
            "npx eslint '.*'",
            "cp .* /tmp",
            "rm .env*",
            "ls .*",
            "rm .i-insist-*",
        ],
    ),
    (
        "archives",
        &[
            "tar xf a.tar -C .i-insist",
            "tar -xzf a.tgz --directory=.i-insist",
            "tar xf a.tar .i-insist/a.toml",
            "tar xf a.tar -C.i-insist",
            "tar czf .i-insist/x.tgz src",
            "tar cf x.tar --remove-files .i-insist",
            "unzip a.zip -d .i-insist",
            "unzip -o a.zip .i-insist/a",
            "cd .i-insist && unzip ../a.zip",
            "7z x a.7z -o.i-insist",
            "zip -m x.zip .i-insist/a",
            "zip .i-insist/x.zip a",
            "git clone http://h/x .i-insist",
            "git checkout HEAD~1 -- .i-insist",
            "git checkout .i-insist/i-insist.toml",
            "git restore --source=HEAD~1 .i-insist",
            "git clean -fdx .i-insist",
            "git stash push .i-insist",
            "git worktree add .i-insist",
            "git diff --output=.i-insist/a",
            "git archive -o .i-insist/a HEAD",
        ],
        &[
            "tar xf a.tar",
            "tar xf a.tar -C sub",
            "tar czf x.tgz .i-insist src",
            "unzip -l .i-insist/x.zip",
            "unzip a.zip -d sub",
            "git clone http://h/x",
            "git checkout main",
            "git checkout -b .i-insist-notes",
            "git restore src",
            "git stash",
            "git diff --output=x",
            "git reset --hard",
        ],
    ),
    (
        "ourselves and clients",
        &[
            "i-insist uninstall claude",
            "i-insist install codex",
            "i-insist ensure",
            "i-insist trust .i-insist/a.toml",
            "i-insist untrust x",
            "ROOT/bin/i-insist uninstall claude",
            "sudo i-insist uninstall claude",
            "claude --bare -p hi",
            "claude --settings '{\"disableAllHooks\":true}' -p hi",
            "claude --settings=off.json -p hi",
            "claude --setting-sources project -p hi",
            "claude --setting-sources= -p hi",
            "CLAUDE_CODE_SIMPLE=1 claude -p hi",
            "env CLAUDE_CODE_SIMPLE=1 claude -p hi",
            "export CLAUDE_CONFIG_DIR=/tmp/x; claude -p hi",
            "HOME=/tmp/x claude -p hi",
            "npx @anthropic-ai/claude-code --bare -p hi",
            "claude plugin disable x",
            "codex exec -c features.hooks=false hi",
            "codex exec -c 'features={hooks=false}' hi",
            "codex exec --config=features.hooks=false hi",
            "codex --disable hooks exec hi",
            "codex --disable=hooks exec hi",
            "codex exec --ignore-user-config hi",
            "codex features disable hooks",
            "CODEX_HOME=/tmp/x codex exec hi",
            "pi -ne hi",
            "pi --no-extensions hi",
            "PI_CODING_AGENT_DIR=/tmp/x pi hi",
            "pi remove npm:x",
            "opencode --pure run hi",
            "OPENCODE_PURE=1 opencode run hi",
            "bash -c 'CLAUDE_CODE_SIMPLE=1 claude -p hi'",
        ],
        &[
            "i-insist status",
            "i-insist validate",
            "i-insist check 'rm x'",
            "i-insist help protect",
            "i-insist install claude --dry-run",
            "i-insist --version",
            "echo i-insist uninstall claude",
            "claude --version",
            "claude -p 'explain --bare'",
            "claude --settings '{\"model\":\"x\"}' -p hi",
            "claude --setting-sources user,project -p hi",
            "claude plugin list",
            "codex --help",
            "codex exec 'fix the hooks'",
            "codex exec -c model=x hi",
            "codex exec --dangerously-bypass-hook-trust hi",
            "pi -p hi",
            "opencode run hi",
            "CODEX_HOME=/tmp/x cargo test",
            "grep -r CLAUDE_CODE_SIMPLE=1 docs",
            "echo '--bare'",
        ],
    ),
];

#[test]
fn what_would_be_typed_is_caught_in_codex_alone() {
    let tree = Tree::new("terminal");
    let typed = [
        "bash",
        "bash -l",
        "bash -i",
        "sh -s",
        "exec bash",
        "env bash",
        "sudo -i",
        "sudo -s",
        "su -",
        "python3",
        "python3 -i x.py",
        "python3 -u",
        "node",
        "ruby",
        "sqlite3 x.db",
        "script -q /dev/null",
        "tmux",
        "tmux attach",
        "screen -r",
        "vim x",
        "cat | sh",
        "bash < /dev/tty",
        "bash /dev/stdin",
        "source /dev/stdin",
        "cd src && zsh",
        "python3 -",
        "irb",
        "bash --norc",
    ];
    let harmless = [
        "bash run.sh",
        "bash -c 'ls'",
        "bash -lc 'ls'",
        "bash -ic 'ls'",
        "bash --version",
        "echo ls | bash",
        "bash < run.sh",
        "bash <<< ls",
        "bash <<'EOF'\nls\nEOF",
        "python3 x.py",
        "python3 -c 'print(1)'",
        "python3 -m pytest",
        "python3 --version",
        "python3 - <<'EOF'\n1\nEOF",
        "node -e 1",
        "node x.js",
        "sudo ls",
        "su -c ls",
        "tmux ls",
        "tmux new -d 'make'",
        "source env.sh",
        "cat x | sh",
        "awk '{print}' x",
        "sqlite3 x.db 'select 1'",
        "perl -e 'print 1'",
        "which bash",
    ];
    tree.judge("codex", &typed.map(|command| ("typed", command)), true);
    tree.judge("claude", &typed.map(|command| ("typed", command)), false);
    tree.judge("codex", &harmless.map(|command| ("given", command)), false);
}

fn edits(tree: &Tree, path: &str) -> Option<Touch> {
    let (home, cwd) = (tree.0.join("home"), tree.0.join("p"));
    let mut event = Event::new(Kind::FileEdit, "claude", "Edit", cwd.clone());
    event.add_changes(vec![Change {
        path: paths::resolve(path, &cwd, &home),
        operation: crate::event::Operation::Edit,
        content: "".into(),
    }]);
    event.tool_input = Json::object([("file_path", Json::string(path))]);
    examine(&event, None, &tree.guarded(), &home)
}

#[test]
fn edits_by_any_spelling_of_the_path() {
    let tree = Tree::new("edits");
    for path in [
        ".i-insist/a.toml",
        "src/../.i-insist/a.toml",
        ".i-insist//new/a",
        "rules/a.toml",
        "link.toml",
        "~/.i-insist/i-insist.toml",
        ".I-INSIST/a.toml",
        "~/.claude/settings.json",
        ".claude/settings.local.json",
        ".codex/hooks.json",
        ".pi/extensions/a.ts",
        ".steer.toml",
        "~/.config/steer/config.toml",
        "~/.local/state/i-insist/audit.jsonl",
        "tools/guard.py",
        "evil/.i-insist/a.toml",
    ] {
        let touch = edits(&tree, path);
        assert!(touch.is_some(), "{path}");
        assert!(touch.unwrap().to_string().contains("human approval"));
    }
    for path in [
        ".i-insist-notes/a",
        "my.i-insist/a",
        "src/a.py",
        ".claude/skills/a.md",
        ".codex/AGENTS.md",
        ".github/workflows/ci.yml",
        "settings.json",
        "hooks.json",
        "tools/other.py",
        "~/.config/steer/notes.md",
        "i-insist/a.toml",
    ] {
        assert_eq!(edits(&tree, path), None, "{path}");
    }
}

#[test]
fn a_protected_name_that_links_elsewhere_is_still_that_name() {
    let tree = Tree::new("linked");
    let settings = tree.0.join("p/.claude/settings.json");
    fs::remove_file(&settings).unwrap();
    fs::write(tree.0.join("p/shared.json"), "").unwrap();
    std::os::unix::fs::symlink("../shared.json", &settings).unwrap();
    assert!(edits(&tree, ".claude/settings.json").is_some());
    assert!(
        tree.shell("claude", "echo {} > .claude/settings.json")
            .is_some()
    );
    assert_eq!(edits(&tree, "shared.json"), None);
}

#[test]
fn other_tools_by_their_name_and_the_keys_of_their_arguments() {
    let tree = Tree::new("tools");
    let call = |tool: &'static str, key: &'static str, value: &str| {
        let cwd = tree.0.join("p");
        let mut event = Event::new(Kind::Other, "claude", tool, cwd);
        event.tool_input = Json::object([(key, Json::string(value))]);
        examine(&event, None, &tree.guarded(), &tree.0.join("home"))
    };
    for (tool, key, value) in [
        ("mcp__filesystem__write_file", "path", ".i-insist/a.toml"),
        (
            "mcp__filesystem__move_file",
            "source",
            "rules/i-insist.toml",
        ),
        ("mcp__fs__delete", "uri", "file:///x/.i-insist/a"),
    ] {
        assert!(call(tool, key, value).is_some(), "{tool}");
    }
    for (tool, key, value) in [
        ("mcp__filesystem__read_file", "path", ".i-insist/a.toml"),
        ("Read", "file_path", ".i-insist/a.toml"),
        ("mcp__filesystem__write_file", "path", "src/a.py"),
        ("mcp__tracker__create_issue", "body", "/.i-insist/a.toml"),
    ] {
        assert_eq!(call(tool, key, value), None, "{tool}");
    }
}
