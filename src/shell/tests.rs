//! Every evasion with its harmless twin: a spelling in which the command runs, and the nearest
//! one in which it is only text.

use super::{Options, Parsed, Segment, Wrapper, parse};
use std::path::Path;

fn read(text: &str) -> Parsed {
    parse(text, &Options::default())
}

/// The segments whose head is `zap`, the command the rules of these tests would look for.
fn zaps(text: &str) -> Vec<Segment> {
    let mut segments = read(text).segments;
    segments.retain(|segment| segment.head == "zap");
    segments
}

/// `zap -r x` runs in each of the texts.
fn runs(texts: &[&str]) {
    for text in texts {
        let found = zaps(text);
        let full = found
            .iter()
            .any(|segment| segment.args.starts_with(&["-r".to_owned(), "x".to_owned()]));
        assert!(full, "{text:?} gives {:#?}", read(text).segments);
    }
}

#[test]
fn an_empty_alternative_of_a_brace_leaves_the_rest_of_the_word() {
    let words = |text: &str| {
        let segment = read(text).segments.remove(0);
        [vec![segment.head], segment.args].concat()
    };
    assert_eq!(words("z{ap,} -r x"), ["zap", "z", "-r", "x"]);
    assert_eq!(words("zap {,} a{,.bak}"), ["zap", "a", "a.bak"]);
}

/// No `zap` runs in any of the texts, and each is read to its end.
fn mentions(texts: &[&str]) {
    for text in texts {
        assert!(zaps(text).is_empty(), "{text:?} gives {:#?}", read(text).segments);
        assert!(read(text).complete, "{text:?}");
    }
}

fn heads(text: &str) -> Vec<String> {
    read(text).segments.into_iter().map(|segment| segment.head).collect()
}

#[test]
fn wrappers_are_peeled_with_their_options() {
    let table: &[(&str, &str)] = &[
        ("A=1 B='c d' zap -r x", "A=zap echo -r x"),
        ("env zap -r x", "env zap=1 echo"),
        ("env -u A -i B=2 zap -r x", "env -u zap echo"),
        ("env -C /d -- zap -r x", "env -C zap echo"),
        ("/usr/bin/env - zap -r x", "echo env - zap"),
        ("env -S 'zap -r x'", "env -S 'echo zap'"),
        ("env -S'zap -r' x", "env -S\"echo 'zap -r'\" x"),
        ("env --split-string='zap -r x'", "env --split-string='echo # zap'"),
        ("env -iS 'A=1 zap' -r x", "env -iS 'A=zap echo'"),
        ("sudo zap -r x", "sudo -l zap"),
        ("sudo -u root zap -r x", "sudo -u zap echo"),
        ("sudo -uroot -nE A=1 zap -r x", "sudo -e zap"),
        ("sudo -iu bob zap -r x", "sudo -g zap -h zap -D zap echo"),
        ("sudo --user=bob --chdir /d zap -r x", "sudo --user zap echo"),
        ("sudo -- zap -r x", "sudo -v -- zap"),
        ("doas -u bob zap -r x", "doas -u zap echo"),
        ("time -p zap -r x", "echo time zap"),
        ("time -f %e zap -r x", "time -f zap echo"),
        ("command time -o f zap -r x", "command time -o zap echo"),
        ("! time zap -r x", "time echo zap"),
        ("nice zap -r x", "nice -n zap echo"),
        ("nice -n5 zap -r x", "nice --adjustment zap echo"),
        ("nice -10 zap -r x", "nice -10 echo zap"),
        ("ionice -c 2 -n7 zap -r x", "ionice -p 1 zap"),
        ("nohup zap -r x &", "nohup echo zap &"),
        ("setsid -f zap -r x", "setsid echo zap"),
        ("stdbuf -o L -e0 zap -r x", "stdbuf -o zap echo"),
        ("command zap -r x", "command -v zap"),
        ("command -p zap -r x", "command -V zap"),
        ("builtin zap -r x", "builtin echo zap"),
        ("exec -a name zap -r x", "exec -a zap echo"),
        ("echo a | xargs zap -r x", "echo zap | xargs echo"),
        ("xargs -n1 -I {} zap -r x {}", "xargs -I zap echo"),
        ("xargs --max-args 3 -0 zap -r x", "xargs --max-args zap echo"),
        ("xargs -i zap -r x", "xargs -a zap -d zap -E zap echo"),
        ("timeout 5 zap -r x", "timeout zap echo"),
        ("timeout --preserve-status -k 5s 0.5m zap -r x", "timeout -k zap -s zap 5 echo"),
        ("timeout --sig KILL 5 zap -r x", "timeout --signal zap 5 echo"),
        ("busybox zap -r x", "busybox --list zap"),
        ("chroot --userspec a:b /d zap -r x", "chroot zap echo"),
        ("flock -w 5 /l zap -r x", "flock -w zap /l echo"),
        ("flock /l -c 'zap -r x'", "flock /l -c 'echo zap'"),
        ("watch -n 1 zap -r x", "watch -n zap echo"),
        ("watch 'zap -r x | y'", "watch 'echo \"zap -r x\"'"),
        ("parallel -j 4 zap -r x ::: a b", "parallel echo ::: zap"),
        ("parallel ::: 'zap -r x' b", "parallel -a zap echo"),
        ("taskset -c 0 zap -r x", "taskset -p zap"),
        ("chrt -f 10 zap -r x", "chrt -p zap 1"),
        ("setpriv --reuid 5 --clear-groups zap -r x", "setpriv --reuid zap echo"),
        ("runuser -u bob -- zap -r x", "runuser -u zap echo"),
        ("runuser bob -c 'zap -r x'", "runuser bob -c 'echo zap'"),
        ("pkexec --user bob zap -r x", "pkexec --user zap echo"),
        ("unshare -r -w /d zap -r x", "unshare -w zap echo"),
        ("systemd-run --user -p A=b --unit u zap -r x", "systemd-run --unit zap echo"),
        ("strace -f -e trace=file -o l zap -r x", "strace -o zap echo"),
        ("script -qc 'zap -r x' log", "script zap"),
        ("script -c 'zap -r x'", "script -c 'echo zap' zap"),
        ("sudo env A=1 nice -n 5 timeout 5 zap -r x", "sudo env zap=1 nice -n 5 timeout zap echo"),
        ("if zap -r x; then :; fi", "echo if zap"),
        ("while ! zap -r x; do :; done", "for zap in a; do echo; done"),
        ("coproc zap -r x", "coproc zap { echo; }"),
    ];
    for (run, mention) in table {
        runs(&[run]);
        mentions(&[mention]);
    }
}

#[test]
fn quoting_is_removed_and_only_quoting() {
    runs(&[
        "zap -r x",
        "'zap' -r x",
        "\"zap\" -r x",
        "z'a'p -r x",
        "\\zap -r x",
        "z\\\nap -r x",
        "$'zap' -r x",
        "$'\\x7aap' -r x",
        "$'\\172ap' -r x",
        "$'\\u007aap' -r x",
        "$\"zap\" -r x",
        "''zap -r x",
        "/bin/zap -r x",
        "{zap,-r,x}",
        "{zap,-r} x",
        "{zap,} -r x",
        "Z=zap; $Z -r x",
        "Z='zap -r'; $Z x",
        "Z=zap\n${Z} -r x",
        "Z=zap && \"$Z\" -r x",
        "export Z=zap; $Z -r x",
        ">f zap -r x",
        "zap >f -r 2>&1 x",
        "2>f zap -r x",
        "<<<w zap -r x",
    ]);
    mentions(&[
        "echo 'zap -r x'",
        "echo \"zap -r x\"",
        "echo zap\\ -r",
        "'zap -r x'",
        "\"zap -r x\"",
        "zap\u{a0}-r x",
        "echo $'\\n' zap",
        "# zap -r x",
        "echo a # ; zap",
        "echo a '; zap -r x'",
        "echo a \\; zap",
        "echo a \"&& zap\"",
        "echo {zap,x}",
        "echo \\\n zap",
        "Z=zap; echo $Z",
        "Z=zap; '$Z' x",
        "> zap",
        "echo 2>zap",
        "echo a#;zap=1",
        "'{zap,-r}'",
        "case zap in zap) echo;; esac",
        "[[ zap == zap ]]",
        "(( zap + 1 ))",
        "a=(zap -r x)",
        "echo >| zap",
        "echo <<< zap",
    ]);
}

#[test]
fn variables_that_may_have_changed_are_not_known() {
    let texts = [
        "$Z -r x",
        "${Z:-zap} -r x",
        "Z=zap $Z x",
        "if a; then Z=zap; fi; $Z",
        "Z=zap; read Z; $Z",
        "Z=zap; Z=$(a); $Z",
        "Z=zap; f() { Z=b; }; f; $Z",
        "Z=zap; while a; do $Z; Z=b; done",
        "a && Z=zap; $Z",
        "Z=zap & $Z",
        "Z=zap | a; $Z",
        "Z=zap; unset Z; $Z",
        "Z=zap; eval \"$a\"; $Z",
        "Z=zap; (( Z = 1 )); $Z",
        "(Z=zap); $Z",
        "trap 'Z=b' DEBUG; Z=zap; $Z",
        "IFS=a; Z=zap; $Z",
        "Z=zap; printf -v Z b; $Z",
        "Z=zap; Z+=b; $Z",
        "/bin/z?p -r",
        "$(a) -r",
        "`a` -r",
        "z$((1))",
    ];
    for text in texts {
        let found = read(text).segments;
        assert!(found.iter().any(|segment| segment.dynamic), "{text:?} gives {found:#?}");
    }
    assert!(read("echo $Z; [ -f * ]; ls").segments.iter().all(|segment| !segment.dynamic));
}

#[test]
fn scripts_are_read_again_and_other_arguments_are_not() {
    runs(&[
        "sh -c 'zap -r x'",
        "bash -lc 'zap -r x'",
        "bash -ec \"zap -r x\"",
        "bash -c -e 'zap -r x'",
        "bash -c -- 'zap -r x'",
        "bash -o pipefail -c 'a; zap -r x' b",
        "zsh -c 'zap -r x'",
        "fish -c 'zap -r x'",
        "dash -c 'zap -r x'",
        "sudo bash -c 'zap -r x'",
        "xargs sh -c 'zap -r x'",
        "sh -c 'sh -c \"zap -r x\"'",
        "eval zap -r x",
        "eval 'a; zap -r x'",
        "eval \"zap\" '-r x'",
        "eval -- zap -r x",
        "trap 'zap -r x' EXIT",
        "trap -- 'zap -r x' INT",
        "su -c 'zap -r x'",
        "su - bob -c 'zap -r x'",
        "su bob --command='zap -r x'",
        "find . -exec zap -r x {} \\;",
        "find . -name a -execdir zap -r x {} + -print",
        "find . -ok zap -r x ';'",
        "find . -exec echo {} \\; -exec sh -c 'zap -r x' \\;",
        "git -c alias.a='!zap -r x' a",
        "git -c alias.a='!zap' a -r x",
        "bash <<E\nzap -r x\nE",
        "bash <<'E'\nzap -r x\nE",
        "bash -s a <<< 'zap -r x'",
        "cat <<E | sh\nzap -r x\nE",
        "echo 'zap -r x' | sh",
        "printf '%s\\n' 'zap -r x' | bash",
        "printf 'zap -r x\\n' | bash -",
        "sh /dev/stdin <<< 'zap -r x'",
        "env A=1 bash <<E\nzap -r x\nE",
        "(bash) <<E\nzap -r x\nE",
    ]);
    mentions(&[
        "sh -c 'echo zap'",
        "sh zap -c 'zap'",
        "bash ./s -c zap",
        "bash --version zap",
        "python -c 'zap'",
        "ssh h 'zap -r x'",
        "echo eval zap",
        "trap - zap",
        "trap zap",
        "su zap",
        "find . -name zap",
        "find . -exec echo zap \\;",
        "git -c alias.a='!echo zap' a",
        "git -c a.b=zap log",
        "cat <<E\nzap -r x\nE",
        "bash s.sh <<E\nzap -r x\nE",
        "bash -c 'cat' <<E\nzap -r x\nE",
        "cat <<< 'zap -r x'",
        "echo 'zap -r x' | cat",
        "printf '{}' | bash ./zap.sh",
        "echo 'zap' | sh s.sh",
        "grep 'zap | sh' f",
    ]);
}

#[test]
fn substitutions_run_wherever_they_stand() {
    runs(&[
        "echo $(zap -r x)",
        "echo \"$(zap -r x)\"",
        "echo `zap -r x`",
        "echo \"`zap -r x`\"",
        "echo `echo \\`zap -r x\\``",
        "a <(zap -r x)",
        "a >(zap -r x)",
        "a > $(zap -r x)",
        "a <<< $(zap -r x)",
        "echo ${a:-$(zap -r x)}",
        "echo $((1 + $(zap -r x)))",
        "(( $(zap -r x) ))",
        "echo $[1 + $(zap -r x)]",
        "a[$(zap -r x)]=1",
        "a=($(zap -r x))",
        "A=$(zap -r x)",
        "case $(zap -r x) in a) ;; esac",
        "case a in $(zap -r x)) ;; esac",
        "for i in $(zap -r x); do :; done",
        "[[ -n $(zap -r x) ]]",
        "[[ a =~ $(zap -r x) ]]",
        "cat <<E\n$(zap -r x)\nE",
        "cat <<E\n`zap -r x`\nE",
        "cat <<-E\n\t${a:-$(zap -r x)}\n\tE",
        "$(zap -r x)",
        "echo $((zap -r x) | (a))",
        "echo \"$(echo \")\"; zap -r x)\"",
        "echo $(case a in a) zap -r x;; esac)",
    ]);
    mentions(&[
        "echo '$(zap -r x)'",
        "echo \"\\$(zap -r x)\"",
        "echo \\$\\(zap\\)",
        "echo '`zap`'",
        "echo \"\\`zap\\`\"",
        "cat <<'E'\n$(zap -r x)\nE",
        "cat <<\\E\n`zap`\nE",
        "cat <<E\n\\$(zap -r x)\nE",
        "echo \"<(zap -r x)\"",
        "cat <<E\n<(zap -r x)\nE",
        "echo ${zap}",
        "echo ${a#zap}",
        "echo $((zap))",
        "a[zap]=1",
        "echo $[zap]",
        "[[ a =~ (zap|b) ]]",
        "[[ a == zap ]]",
        "for zap in a; do :; done",
        "select zap in a; do :; done",
        "zap() { :; }",
        "function zap { :; }",
    ]);
}

#[test]
fn separators_comments_and_here_documents_end_where_bash_ends_them() {
    runs(&[
        "a; zap -r x",
        "a & zap -r x",
        "a&&zap -r x",
        "a||zap -r x",
        "a|zap -r x",
        "a |& zap -r x",
        "a\nzap -r x",
        "(zap -r x)",
        "{ zap -r x; }",
        "f() { zap -r x; }",
        "function f { zap -r x; }",
        "if a; then b; elif zap -r x; then c; fi",
        "case a in b | c) zap -r x ;& esac",
        "coproc N { zap -r x; }",
        "for ((;;)); do zap -r x; done",
        "echo a # it's\nzap -r x",
        "echo a\\\n#; zap -r x",
        "echo a\\ #; zap -r x",
        "echo \\\" ; zap -r x",
        "echo $'it\\'s'; zap -r x",
        "cat <<E; zap -r x\na\nE",
        "cat <<E\na\nE\nzap -r x",
        "cat <<A <<B\nA\nB\nzap -r x",
        "cat <<$'\\x45ND'\nEND\nzap -r x",
        "cat <<-E\n\tE\nzap -r x",
        "echo $[1<<W]\nzap -r x\nW",
        "((1<<W))\nzap -r x\nW",
        "cat <<<W\nzap -r x\nW",
        "a 2>&1 & zap -r x",
        "a &>f; zap -r x",
        "echo '<<E'\nzap -r x",
        "# <<E\nzap -r x",
        "a >&2-;zap -r x",
        "a |\nzap -r x",
        "time zap -r x",
        "{ a; } | zap -r x",
    ]);
    mentions(&[
        "cat <<E\na\nzap -r x\nE",
        "cat <<E\n E\nzap -r x\nE",
        "cat <<-E\n E\nzap\n\tE",
        "cat <<'E'\nE \nzap -r x\nE",
        "cat <<A <<B\nA\nzap\nB",
        "cat <<E\na\\\nE\nzap\nE",
        "echo a \\\n zap -r x",
        "echo a 'b\nzap -r x'",
        "echo a;# zap",
        "a >zap",
        "a 2>&1 zap",
        "echo a&>zap",
        "git log --grep='a; zap'",
        "jq '.a|zap'",
    ]);
}

#[test]
fn an_open_construct_is_incomplete_and_keeps_what_stands_before() {
    for text in [
        "zap; echo 'a",
        "zap; echo \"a",
        "zap; echo $(a",
        "zap; echo `a",
        "zap\nif a; then b",
        "zap; (a",
        "zap; { a",
        "zap && a |",
        "zap; )",
        "zap; a=(b",
        "zap\ncase a in b)",
    ] {
        let parsed = read(text);
        assert!(!parsed.complete && !parsed.limited, "{text:?}");
        assert_eq!(
            parsed.segments.first().map(|segment| segment.head.as_str()),
            Some("zap"),
            "{text:?}"
        );
    }
    assert!(!read("cat <<E\na").complete);
    assert!(read("cat <<E\nE").complete);
    // What bash refuses does not hide what follows: another shell may take it.
    runs(&["a ) b\nzap -r x", "for f (*.c) a; zap -r x"]);
}

#[test]
fn limits_are_reported() {
    let deep = |levels: usize| "echo $(".repeat(levels) + "a" + &")".repeat(levels);
    assert!(!read(&deep(256)).limited && read(&deep(257)).limited);
    for text in [
        "a {1..2000}",
        "a {1..9999999999}",
        &format!("a {}", "{a,b}".repeat(11)),
        &format!("a {{{},b}}{{1..900}}", "c".repeat(100)),
    ] {
        let parsed = read(text);
        assert!(parsed.limited && parsed.complete, "{text:?}");
    }
    for text in
        ["a {1..1000}", &format!("a {}", "{a,b}".repeat(9)), "a '{1..2000}'", &"{a,".repeat(5_000)]
    {
        assert!(!read(text).limited, "{text:.40?}");
    }
    assert!(read(&format!("{}a{}", "{a,".repeat(5_000), "}".repeat(5_000))).limited);
}

#[test]
fn segments_say_where_they_stand() {
    let parsed = read("é='1' sudo z'a'p \"-r\" x >f; echo $(zap)");
    let zap =
        parsed.segments.iter().find(|segment| segment.head == "zap").cloned().unwrap_or_default();
    assert!(zap.spans.is_none(), "`é=1` is no assignment, so this is the one at depth 1");
    let text = "É; A='1' sudo z'a'p \"-r\" {a,b} $x >f";
    let zap = zaps(text).pop().unwrap_or_default();
    let spans = zap.spans.unwrap_or_else(|| unreachable!("it stands in the text"));
    assert_eq!(text.get(spans.head), Some("z'a'p"));
    let args: Vec<_> =
        spans.args.into_iter().map(|span| span.and_then(|span| text.get(span))).collect();
    assert_eq!(args, [Some("\"-r\""), None, None, Some("$x")]);
    assert_eq!(zap.args, ["-r", "a", "b", "$x"]);
    assert_eq!(zap.dynamic_args, [false, false, false, true]);
    assert_eq!(zap.wrappers, ["A=1", "sudo"]);
    assert_eq!(
        zap.span.and_then(|span| text.get(span)),
        Some("A='1' sudo z'a'p \"-r\" {a,b} $x >f")
    );
    assert!(
        zaps("sh -c 'zap'").iter().all(|segment| segment.spans.is_none() && segment.span.is_none())
    );
    assert!(zaps("Z=zap; $Z").iter().all(|segment| segment.spans.is_none()));
}

#[test]
fn pipelines_depths_and_order() {
    let rows = |text: &str| -> Vec<(String, bool, u32)> {
        read(text)
            .segments
            .into_iter()
            .map(|segment| (segment.head, segment.pipeline_start, segment.depth))
            .collect()
    };
    let row = |head: &str, start, depth| (head.to_owned(), start, depth);
    assert_eq!(
        rows("a $(b | c) |\nd; e"),
        [
            row("a", true, 0),
            row("b", true, 1),
            row("c", false, 1),
            row("d", false, 0),
            row("e", true, 0)
        ]
    );
    assert_eq!(rows("a | (b; c)"), [row("a", true, 0), row("b", false, 0), row("c", true, 0)]);
    assert_eq!(
        rows("a | sh -c 'b; c'"),
        [row("a", true, 0), row("sh", false, 0), row("b", false, 1), row("c", true, 1)]
    );
    assert_eq!(
        rows("a | xargs sh -c 'b'"),
        [row("a", true, 0), row("sh", false, 0), row("b", true, 1)]
    );
    assert_eq!(heads(">f"), [""]);
    assert_eq!(heads("A=1"), Vec::<String>::new());
    assert_eq!(heads(""), Vec::<String>::new());
}

#[test]
fn git_loses_its_own_options() {
    let parsed = read("git --git-dir r -C d -c a.b=c --no-pager reset --hard");
    let git = parsed.segments.first().cloned().unwrap_or_default();
    assert_eq!(git.args, ["reset", "--hard"]);
    assert_eq!(git.wrappers, ["--git-dir", "r", "-C", "d", "-c", "a.b=c", "--no-pager"]);
    assert_eq!(read("git log -C d").segments.first().map(|segment| segment.args.len()), Some(3));
}

#[test]
fn scripts_that_are_not_known_are_dynamic() {
    for text in [
        "bash -c \"$A\"",
        "eval \"$(a)\"",
        "a | sh",
        "curl u | bash -s -- b",
        "sh <<< $A",
        "bash <<E\n$A\nE",
    ] {
        assert!(
            read(text).segments.iter().any(|segment| segment.dynamic && segment.depth == 0),
            "{text:?}"
        );
    }
    for text in
        ["bash -c 'a $A'", "eval 'a'", "a | sh s", "echo b | sh", "bash <<'E'\na $A\nE", "bash"]
    {
        assert!(read(text).segments.iter().all(|segment| !segment.dynamic), "{text:?}");
    }
}

#[test]
fn redirections_assignments_and_input_are_kept() {
    let parsed = read("A=1 B+='c d' zap 2>'e f' <<<\"g h\" >|i; { j; } >>k");
    let zap = parsed.segments.first().cloned().unwrap_or_default();
    let redirects: Vec<_> = zap
        .redirects
        .iter()
        .map(|redirect| (redirect.op.as_str(), redirect.target.as_str()))
        .collect();
    assert_eq!(redirects, [(">", "e f"), ("<<<", "g h"), (">|", "i")]);
    let assignments: Vec<_> = zap
        .assignments
        .iter()
        .map(|assignment| (assignment.name.as_str(), assignment.value.as_str()))
        .collect();
    assert_eq!(assignments, [("A", "1"), ("B", "c d")]);
    assert_eq!(zap.stdin.as_deref(), Some("g h"));
    let redirects =
        parsed.segments.get(1).map(|segment| segment.redirects.clone()).unwrap_or_default();
    assert_eq!(redirects.first().map(|redirect| redirect.target.as_str()), Some("k"));
    let stdin = |text: &str| read(text).segments.first().and_then(|segment| segment.stdin.clone());
    assert_eq!(stdin("apply_patch <<'E'\n*** a $b\nE\n").as_deref(), Some("*** a $b\n"));
    assert_eq!(stdin("apply_patch <<-E\n\ta\\$b\n\tE\n").as_deref(), Some("a$b\n"));
    assert_eq!(stdin("apply_patch <<E\n$b\nE\n"), None);
}

#[test]
fn directories_and_the_workspace() {
    let options = Options {
        cwd: Some(Path::new("/w/p")),
        home: Some(Path::new("/home/u")),
        ..Options::default()
    };
    let last = |text: &str| parse(text, &options).segments.pop().unwrap_or_default();
    let table: &[(&str, Option<&str>, Option<bool>)] = &[
        ("a", Some("/w/p"), Some(true)),
        ("cd b && a", Some("/w/p/b"), Some(true)),
        ("cd ..; a", Some("/w"), Some(false)),
        ("cd /x; a /w/p/c", Some("/x"), Some(true)),
        ("(cd /x); a", Some("/w/p"), Some(true)),
        ("cd /x & a", Some("/w/p"), Some(true)),
        ("cd /x | b; a", Some("/w/p"), Some(true)),
        ("cd; a", Some("/home/u"), Some(false)),
        ("cd ~/q; a", Some("/home/u/q"), Some(false)),
        ("cd /x; cd -; a", Some("/w/p"), Some(true)),
        ("cd \"$D\"; a", None, None),
        ("cd \"$D\"; a /etc/x", None, Some(false)),
        ("if b; then cd /x; fi; a", None, None),
        ("b || cd /x; a", None, None),
        ("command cd -P -- /x; a", Some("/x"), Some(false)),
        ("f() { cd /x; }; a", Some("/w/p"), Some(true)),
        ("sh -c 'cd /x; a'", Some("/x"), Some(false)),
        ("a /etc/x", Some("/w/p"), Some(false)),
        ("a /etc/x ./y", Some("/w/p"), Some(true)),
        ("a ../p/x", Some("/w/p"), Some(true)),
        ("a ~/x", Some("/w/p"), Some(false)),
        ("a \"$HOME/x\"", Some("/w/p"), Some(false)),
        ("a ~bob/x", Some("/w/p"), Some(false)),
        ("a '/etc/x*' 'http://b/c' -f/etc", Some("/w/p"), Some(true)),
        ("grep -rn /api/v1 src", Some("/w/p"), Some(true)),
        ("grep -rn b /api/v1", Some("/w/p"), Some(false)),
        ("printf %s '/tmp is a word here'", Some("/w/p"), Some(true)),
    ];
    for (text, directory, inside) in table {
        let segment = last(text);
        assert_eq!(segment.directory.as_deref(), directory.map(Path::new), "{text:?}");
        assert_eq!(segment.in_workspace, *inside, "{text:?}");
    }
    assert_eq!(read("a /etc").segments.pop().unwrap_or_default().in_workspace, None);
}

#[test]
fn permission_is_a_literal_leading_assignment() {
    let granted = |text: &str| read(text).grants_permission("PERMIT", "1");
    for text in ["PERMIT=1 a", "A=b PERMIT=1 a; c", "PERMIT=1 sudo a", "PERMIT=1 a | b"] {
        assert!(granted(text), "{text:?}");
    }
    for text in [
        "PERMIT=1",
        "PERMIT=1; a",
        "a; PERMIT=1 b",
        "PERMIT='1' a",
        "PERMIT=\"1\" a",
        "PERMIT=\\1 a",
        "PERMIT=$A a",
        "PERMIT=11 a",
        "PERMIT+=1 a",
        "export PERMIT=1; a",
        "a PERMIT=1",
        "# PERMIT=1 a",
        "env PERMIT=1 a",
        "echo $(PERMIT=1 a)",
        "XPERMIT=1 a",
        "PERMIT= 1 a",
        "'PERMIT=1' a",
    ] {
        assert!(!granted(text), "{text:?}");
    }
}

#[test]
fn wrappers_of_the_user_are_peeled() {
    let own = [Wrapper {
        name: "mise-exec".to_owned(),
        value_options: vec!["-C".to_owned(), "--env".to_owned()],
    }];
    let options = Options { wrappers: &own, ..Options::default() };
    let head =
        |text: &str| parse(text, &options).segments.first().map(|segment| segment.head.clone());
    assert_eq!(head("mise-exec -C d --env e -q -- zap").as_deref(), Some("zap"));
    assert_eq!(head("mise-exec -Cd zap").as_deref(), Some("zap"));
    assert_eq!(head("mise-exec").as_deref(), Some("mise-exec"));
}

#[test]
fn no_bytes_make_it_panic() {
    let pieces = [
        "$(",
        "`",
        "'",
        "\"",
        "\\",
        "\n",
        "<<E",
        "((",
        "))",
        "{",
        "}",
        ",",
        "é",
        "🚀",
        "[[",
        "]]",
        "case x in",
        ";;",
        "$'\\x",
        "<(",
        "|",
        "&",
        ";",
        "a=",
        "(",
        ")",
        "${",
        "#",
        " ",
    ];
    let mut state = 7_usize;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces.get((state >> 33) % pieces.len()).copied().unwrap_or_default());
        }
        for segment in read(&text).segments {
            assert!(segment.span.is_none_or(|span| text.get(span).is_some()), "{text:?}");
        }
    }
}

#[test]
fn before_peeling_nothing_is_taken_off() {
    let (commands, complete) = super::raw("sudo zap \"$(echo x)\" | wc");
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        commands,
        [
            (words(&["sudo", "zap", "$()"]), true, 0),
            (words(&["echo", "x"]), true, 1),
            (words(&["wc"]), false, 0),
        ]
    );
    assert!(complete);
}
