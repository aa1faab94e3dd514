//! The table of wrappers: which of their options take a value, so that the value is not taken for
//! the command.
//!
//! Sources: the programs' manual pages (coreutils, util-linux, findutils, sudo, procps, strace).

/// How the words between a wrapper's name and its command are read.
#[derive(Clone, Copy)]
pub(super) struct Grammar {
    pub(super) name: &'static str,
    /// Short options that take a value, glued or as the next word.
    pub(super) short: &'static str,
    /// Long options that take a value, behind `=` or as the next word.
    pub(super) long: &'static [&'static str],
    /// Words before the command that are neither option nor command.
    pub(super) operands: usize,
    /// `NAME=value` may stand before the command.
    pub(super) assignments: bool,
    /// Options with which no command runs.
    pub(super) idle: &'static [&'static str],
    /// Options behind which no option of the wrapper follows.
    pub(super) last: &'static [&'static str],
}

const PLAIN: Grammar = Grammar {
    name: "",
    short: "",
    long: &[],
    operands: 0,
    assignments: false,
    idle: &[],
    last: &[],
};

pub(super) const WRAPPERS: &[Grammar] = &[
    Grammar { name: "builtin", ..PLAIN },
    Grammar { name: "busybox", idle: &["--list", "--list-full", "--install", "--help"], ..PLAIN },
    Grammar { name: "chroot", long: &["--userspec", "--groups"], operands: 1, ..PLAIN },
    Grammar {
        name: "chrt",
        short: "TPD",
        long: &["--sched-runtime", "--sched-period", "--sched-deadline"],
        operands: 1,
        idle: &["-p", "--pid", "-m", "--max"],
        ..PLAIN
    },
    Grammar { name: "command", idle: &["-v", "-V"], ..PLAIN },
    Grammar { name: "doas", short: "aCu", idle: &["-C", "-L"], ..PLAIN },
    Grammar {
        name: "env",
        short: "aCuS",
        long: &["--argv0", "--chdir", "--unset", "--split-string"],
        assignments: true,
        last: &["-S", "--split-string"],
        ..PLAIN
    },
    Grammar { name: "exec", short: "a", ..PLAIN },
    Grammar {
        name: "flock",
        short: "Ewc",
        long: &["--wait", "--timeout", "--conflict-exit-code", "--command"],
        operands: 1,
        ..PLAIN
    },
    Grammar {
        name: "ionice",
        short: "cnpPu",
        long: &["--class", "--classdata", "--pid", "--pgid", "--uid"],
        idle: &["-p", "-P", "-u"],
        ..PLAIN
    },
    Grammar { name: "nice", short: "n", long: &["--adjustment"], ..PLAIN },
    Grammar { name: "nohup", ..PLAIN },
    Grammar {
        name: "parallel",
        short: "aCdEIjLlnNPSsWJ",
        long: &[
            "--arg-file",
            "--colsep",
            "--delay",
            "--delimiter",
            "--env",
            "--halt",
            "--jobs",
            "--joblog",
            "--load",
            "--max-args",
            "--max-chars",
            "--max-procs",
            "--max-replace-args",
            "--memfree",
            "--nice",
            "--profile",
            "--progress-file",
            "--results",
            "--retries",
            "--return",
            "--sshlogin",
            "--sshloginfile",
            "--tagstring",
            "--timeout",
            "--tmpdir",
            "--workdir",
            "--basefile",
        ],
        ..PLAIN
    },
    Grammar { name: "pkexec", long: &["--user"], ..PLAIN },
    Grammar {
        name: "runuser",
        short: "ugGsw",
        long: &["--user", "--group", "--supp-group", "--shell", "--whitelist-environment"],
        ..PLAIN
    },
    Grammar {
        name: "setpriv",
        long: &[
            "--ambient-caps",
            "--apparmor-profile",
            "--bounding-set",
            "--egid",
            "--euid",
            "--groups",
            "--inh-caps",
            "--landlock-access",
            "--landlock-rule",
            "--pdeathsig",
            "--ptracer",
            "--regid",
            "--reuid",
            "--rgid",
            "--ruid",
            "--seccomp-filter",
            "--securebits",
            "--selinux-label",
        ],
        idle: &["-d", "--dump", "--list-caps"],
        ..PLAIN
    },
    Grammar { name: "setsid", ..PLAIN },
    Grammar { name: "stdbuf", short: "ioe", long: &["--input", "--output", "--error"], ..PLAIN },
    Grammar {
        name: "strace",
        short: "abeEIoOpPsSuUX",
        long: &[
            "--attach",
            "--columns",
            "--detach-on",
            "--env",
            "--fault",
            "--inject",
            "--interruptible",
            "--output",
            "--raw",
            "--signal",
            "--status",
            "--string-limit",
            "--summary-columns",
            "--summary-sort-by",
            "--summary-syscall-overhead",
            "--trace",
            "--trace-path",
            "--user",
            "--verbose",
            "--kvm",
            "--read",
            "--write",
        ],
        ..PLAIN
    },
    Grammar {
        name: "sudo",
        short: "aCDgGhpRrtTuU",
        long: &[
            "--auth-type",
            "--chdir",
            "--chroot",
            "--close-from",
            "--command-timeout",
            "--group",
            "--host",
            "--login-class",
            "--other-user",
            "--prompt",
            "--role",
            "--type",
            "--user",
        ],
        assignments: true,
        idle: &[
            "-l",
            "--list",
            "-e",
            "--edit",
            "-V",
            "--version",
            "-v",
            "--validate",
            "-K",
            "--remove-timestamp",
        ],
        ..PLAIN
    },
    Grammar {
        name: "systemd-run",
        short: "CEHMptu",
        long: &[
            "--background",
            "--capsule",
            "--description",
            "--gid",
            "--host",
            "--machine",
            "--nice",
            "--on-active",
            "--on-boot",
            "--on-calendar",
            "--on-startup",
            "--on-unit-active",
            "--on-unit-inactive",
            "--path-property",
            "--property",
            "--service-type",
            "--setenv",
            "--slice",
            "--socket-property",
            "--timer-property",
            "--uid",
            "--unit",
            "--working-directory",
        ],
        ..PLAIN
    },
    Grammar { name: "taskset", operands: 1, idle: &["-p", "--pid"], ..PLAIN },
    Grammar { name: "time", short: "fo", long: &["--format", "--output"], ..PLAIN },
    Grammar {
        name: "timeout",
        short: "ks",
        long: &["--kill-after", "--signal"],
        operands: 1,
        ..PLAIN
    },
    Grammar {
        name: "unshare",
        short: "GlRSw",
        long: &[
            "--boottime",
            "--load-interp",
            "--map-group",
            "--map-groups",
            "--map-user",
            "--map-users",
            "--monotonic",
            "--owner",
            "--propagation",
            "--root",
            "--setgid",
            "--setgroups",
            "--setuid",
            "--wd",
        ],
        ..PLAIN
    },
    Grammar {
        name: "watch",
        short: "nqs",
        long: &["--interval", "--equexit", "--shotsdir"],
        ..PLAIN
    },
    Grammar {
        name: "xargs",
        short: "adEILnPs",
        long: &[
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-chars",
            "--max-procs",
            "--process-slot-var",
        ],
        ..PLAIN
    },
];

/// Options of `git` itself that take a value (git manual page, "OPTIONS").
pub(super) const GIT: Grammar = Grammar {
    name: "git",
    short: "Cc",
    long: &[
        "--attr-source",
        "--config-env",
        "--git-dir",
        "--namespace",
        "--super-prefix",
        "--work-tree",
    ],
    ..PLAIN
};
