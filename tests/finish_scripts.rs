//! Script checks in the real runtimes, which `make test-runtimes` installs. `I_INSIST_RUNTIMES` is
//! the folder of their packages.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failure to set up is a failed test")]
#![expect(dead_code, reason = "shares its support with another target")]

#[path = "support/finish.rs"]
mod support;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use support::World;

/// A runtime and what it can.
struct Runtime {
    /// In messages.
    name: &'static str,
    /// Program and package file, each linked into an otherwise empty `PATH`.
    programs: &'static [(&'static str, &'static str)],
    typescript: bool,
    /// Imports without an ending.
    bare_imports: bool,
    /// TypeScript in a package of type commonjs.
    in_commonjs: bool,
}

const RUNTIMES: &[Runtime] = &[
    Runtime {
        name: "bun",
        programs: &[("bun", "bun/bin/bun.exe")],
        typescript: true,
        bare_imports: true,
        in_commonjs: true,
    },
    Runtime {
        name: "deno",
        programs: &[("deno", "deno/deno")],
        typescript: true,
        bare_imports: false,
        in_commonjs: true,
    },
    Runtime {
        name: "node 20",
        programs: &[("node", "node-20/bin/node")],
        typescript: false,
        bare_imports: false,
        in_commonjs: false,
    },
    Runtime {
        name: "node 22.12, types on demand",
        programs: &[("node", "node-22/bin/node")],
        typescript: true,
        bare_imports: false,
        in_commonjs: false,
    },
    Runtime {
        name: "node 24",
        programs: &[("node", "node-24/bin/node")],
        typescript: true,
        bare_imports: true,
        in_commonjs: true,
    },
    Runtime {
        name: "tsx on node 20",
        programs: &[("node", "node-20/bin/node"), ("tsx", ".bin/tsx")],
        typescript: true,
        bare_imports: true,
        in_commonjs: true,
    },
];

impl Runtime {
    fn world(&self) -> World {
        let Some(packages) = std::env::var_os("I_INSIST_RUNTIMES").map(PathBuf::from) else {
            panic!("I_INSIST_RUNTIMES is not set; run `make test-runtimes`");
        };
        let mut world = World::repository();
        world.path = world.home.join("bin").into();
        for (name, file) in self.programs {
            let file = packages.join("node_modules").join(file);
            assert!(Path::new(&file).exists(), "{} is missing", file.display());
            symlink(file.canonicalize().unwrap(), world.home.join("bin").join(name)).unwrap();
        }
        world
    }
}

/// What a check with this script says at a finish; nothing if it passes.
fn finish(world: &World, script: &str, text: &str) -> String {
    world.write(script, text);
    world
        .guard(&format!("[finish]\nmax_retries = 100\n[[finish.checks]]\nscript = \"{script}\"\n"));
    world.stop("claude")
}

#[test]
fn javascript_runs_everywhere() {
    for runtime in RUNTIMES {
        let world = runtime.world();
        for (body, expected) in [
            ("export default async () => {}", None),
            ("export default () => \"\"", None),
            ("export default async () => undefined; setInterval(() => {}, 1000)", None),
            ("export default async () => \"not yet\"", Some(r"check.mjs: failed\n\nnot yet")),
            ("export default async () => \" \"", Some("check.mjs: failed")),
            ("export default async () => { throw new Error(\"no good\") }", Some("no good")),
            ("export default () => { throw \"a word\" }", Some("a word")),
            ("throw new Error(\"at once\")", Some("at once")),
            ("export default 3", Some("no default export that is a function")),
            ("export const other = () => {}", Some("no default export that is a function")),
            (
                "export default async () => { process.exit(0) }",
                Some("ended before its function had returned"),
            ),
            ("export default async () => { process.exit(4) }", Some("exited with status 4")),
            (
                "export default async ({ cwd, event }) => `${cwd}|${event.session_id}`",
                Some("project|s"),
            ),
            ("console.log(\"a note\"); export default async () => \"bad\"", Some("a note")),
            ("this is no script", Some("check.mjs: ")),
        ] {
            let reply = finish(
                &world,
                "check.mjs",
                &format!("import process from \"node:process\";\n{body}\n"),
            );
            match expected {
                None => assert_eq!(reply, "", "{}: {body}", runtime.name),
                Some(words) => assert!(
                    reply.contains("\"block\"") && reply.contains(words),
                    "{}: {body}: {reply}",
                    runtime.name
                ),
            }
        }
        let thrown = finish(
            &world,
            "check.mjs",
            "function inner() { throw new Error(\"deep\") }\nexport default async () => inner();\n",
        );
        assert!(
            thrown.contains("inner") && thrown.contains("check.mjs:1"),
            "{}: {thrown}",
            runtime.name
        );
    }
}

#[test]
fn typescript_runs_where_types_can_be_stripped() {
    let typed = "export default async ({ cwd }: { cwd: string }): Promise<string | void> => { const bad: boolean = BAD; if (bad) return cwd; };\n";
    for runtime in RUNTIMES {
        for script in ["check.ts", "check.mts"] {
            let world = runtime.world();
            let good = finish(&world, script, &typed.replace("BAD", "false"));
            if !runtime.typescript {
                assert!(good.contains("install one of them"), "{}: {good}", runtime.name);
                continue;
            }
            assert_eq!(good, "", "{} {script}", runtime.name);
            let bad = finish(&world, script, &typed.replace("BAD", "true"));
            assert!(
                bad.contains("\"block\"") && bad.contains("/project"),
                "an edit is picked up: {}: {bad}",
                runtime.name
            );
        }
    }
}

#[test]
fn typescript_as_pi_reads_it_runs_in_the_newer_runtimes() {
    for runtime in RUNTIMES.iter().filter(|runtime| runtime.typescript) {
        let world = runtime.world();
        world.write("help.ts", "export const words: string = \"from help\";\n");
        let bare = finish(
            &world,
            "check.ts",
            "import { words } from \"./help\";\nexport default async () => words;\n",
        );
        assert_eq!(
            bare.contains(r"failed\n\nfrom help"),
            runtime.bare_imports,
            "{}: {bare}",
            runtime.name
        );
        world.write("package.json", "{\"type\": \"commonjs\"}\n");
        let typed =
            finish(&world, "check.ts", "export default async (): Promise<string> => \"here\";\n");
        assert_eq!(
            typed.contains(r"failed\n\nhere"),
            runtime.in_commonjs,
            "{}: {typed}",
            runtime.name
        );
    }
}
