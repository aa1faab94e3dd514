# POSIX make. `make` builds, `make test` tests, `make install` only copies.
# Packagers: PREFIX, DESTDIR, SYSCONFDIR, the folders below, CARGO, CARGOFLAGS, CARGO_TARGET_DIR
# and CARGO_BUILD_TARGET are honoured; RUSTFLAGS is added to, not replaced.
.POSIX:

CARGO = cargo
RUSTC = rustc
CARGOFLAGS = --locked

PREFIX = /usr/local
prefix = $(PREFIX)
BINDIR = $(prefix)/bin
bindir = $(BINDIR)
DATADIR = $(prefix)/share
datadir = $(DATADIR)
MANDIR = $(datadir)/man
mandir = $(MANDIR)
DOCDIR = $(datadir)/doc/i-insist
docdir = $(DOCDIR)
BASHCOMPDIR = $(datadir)/bash-completion/completions
ZSHCOMPDIR = $(datadir)/zsh/site-functions
FISHCOMPDIR = $(datadir)/fish/vendor_completions.d
# The machine's policy is read from $(SYSCONFDIR)/i-insist; the path is fixed at build time.
SYSCONFDIR = /etc
# STEER=1 makes `make install` add a link by the name of steer.
STEER =
# SEED=n makes `make fuzz` generate other cases.
SEED =

BINARY = $${CARGO_TARGET_DIR:-target}/release/i-insist

# A static program relocates itself by code of the C library: glibc reads packed relocations, which
# are 70 KB smaller, from 2.36 on.
PACKS_RELOCATIONS = getconf GNU_LIBC_VERSION 2>/dev/null | \
	awk '{ split($$2, part, "."); exit !(part[1] > 2 || part[2] >= 36) } END { if (!NR) exit 1 }'

# The target to build for: the one asked for, else this system's, with musl where its std is
# there, since the program is then three times smaller. `flags` makes it static on Linux. The target
# is always named, for without it the flags would reach build scripts too.
FIND_TARGET = \
	host=$$($(RUSTC) -vV | sed -n 's/^host: //p'); target=$${CARGO_BUILD_TARGET:-$$host}; \
	musl=$$(echo "$$host" | sed -n 's/-linux-gnu$$/-linux-musl/p'); \
	if [ -z "$$CARGO_BUILD_TARGET" ] && [ -n "$$musl" ] && \
		ls "$$($(RUSTC) --print target-libdir --target "$$musl")"/libstd-*.rlib >/dev/null 2>&1; \
		then target=$$musl; fi; \
	case $$target in *-linux-*) flags="-C target-feature=+crt-static" ;; *) flags= ;; esac; \
	if [ "$$target" = "$$host" ] && $(PACKS_RELOCATIONS); \
		then flags="$$flags -C link-arg=-Wl,-z,pack-relative-relocs"; fi

# A copy, since the kernel maps a file that was written in one go in fewer pieces than one that a
# linker wrote here and there: a start of it costs a seventh less.
all:
	@set -e; $(FIND_TARGET); \
	echo "building for $$target"; \
	RUSTFLAGS="$$RUSTFLAGS $$flags" I_INSIST_SYSCONFDIR="$(SYSCONFDIR)" \
		$(CARGO) build --release $(CARGOFLAGS) --target "$$target"; \
	mkdir -p "$$(dirname "$(BINARY)")"; \
	cp "$${CARGO_TARGET_DIR:-target}/$$target/release/i-insist" "$(BINARY).new"; \
	mv -f "$(BINARY).new" "$(BINARY)"; \
	echo "built $(BINARY)"

# I_INSIST_CASES is the folder of the conformance cases, which are not part of this repository.
test:
	@if [ -n "$$I_INSIST_CASES" ]; then \
		echo "with the conformance tests, cases in $$I_INSIST_CASES"; \
		$(CARGO) test --workspace $(CARGOFLAGS) --features conformance; \
	else \
		$(CARGO) test --workspace $(CARGOFLAGS) && \
		echo "The conformance tests are not part of this run: I_INSIST_CASES is not set."; \
	fi

check: test

# Script checks in bun, deno, tsx and three versions of node, which npm fetches into target/runtimes.
test-runtimes:
	@mkdir -p target/runtimes && cp tests/runtimes/package.json target/runtimes/
	@cd target/runtimes && npm install --no-audit --no-fund --loglevel=error
	I_INSIST_RUNTIMES="$$PWD/target/runtimes" $(CARGO) test $(CARGOFLAGS) --features runtimes --test finish_scripts

demo: all
	@sh tests/demo.sh "$(BINARY)"

e2e: all
	@I_INSIST_BIN="$(BINARY)" python3 tests/e2e/run.py

# What one decision costs; then how the cost of the parser and of the matchers grows with the text.
# All of it runs; the status tells whether a limit was passed.
bench: all
	@status=0; \
	python3 tests/bench.py "$(BINARY)" || status=1; \
	python3 tests/bench_finish.py "$(BINARY)" || status=1; \
	$(CARGO) run -q --release --manifest-path tests/bench/Cargo.toml || status=1; \
	$(CARGO) run -q --release --manifest-path tests/differential/Cargo.toml --bin cost || status=1; \
	exit $$status

# Compares us with other implementations on generated cases; a crate with dependencies of its own.
fuzz:
	@$(CARGO) run -q --release --manifest-path tests/differential/Cargo.toml -- $(SEED)

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets $(CARGOFLAGS) -- -D warnings
	@if command -v mandoc >/dev/null; then cd src/manual && mandoc -T lint i-insist.1 i-insist.5; \
	else echo "mandoc is missing: the manual pages are not checked"; fi

# A `steer` that is not our own link is somebody else's program.
OUR_STEER = [ "$$(readlink "$(DESTDIR)$(bindir)/steer")" = i-insist ]

install:
	@test -x "$(BINARY)" || { echo "$(BINARY) is missing: run make first" >&2; exit 1; }
	@if [ -n "$(STEER)" ] && [ -n "$$(ls -d "$(DESTDIR)$(bindir)/steer" 2>/dev/null)" ] && ! $(OUR_STEER); then \
		echo "$(DESTDIR)$(bindir)/steer is not ours and stays as it is; nothing was installed" >&2; exit 1; fi
	install -d "$(DESTDIR)$(bindir)" "$(DESTDIR)$(mandir)/man1" "$(DESTDIR)$(mandir)/man5" "$(DESTDIR)$(docdir)" \
		"$(DESTDIR)$(BASHCOMPDIR)" "$(DESTDIR)$(ZSHCOMPDIR)" "$(DESTDIR)$(FISHCOMPDIR)"
	install -m 755 "$(BINARY)" "$(DESTDIR)$(bindir)/i-insist"
	install -m 644 src/manual/i-insist.1 "$(DESTDIR)$(mandir)/man1/i-insist.1"
	install -m 644 src/manual/i-insist.5 "$(DESTDIR)$(mandir)/man5/i-insist.5"
	install -m 644 src/manual/completions/i-insist.bash "$(DESTDIR)$(BASHCOMPDIR)/i-insist"
	install -m 644 src/manual/completions/_i-insist "$(DESTDIR)$(ZSHCOMPDIR)/_i-insist"
	install -m 644 src/manual/completions/i-insist.fish "$(DESTDIR)$(FISHCOMPDIR)/i-insist.fish"
	install -m 644 README.md LICENSE src/manual/*.md "$(DESTDIR)$(docdir)"
	@if [ -n "$(STEER)" ]; then ln -sf i-insist "$(DESTDIR)$(bindir)/steer"; fi

uninstall:
	@echo "First unregister the hooks of every user, if that is not done: i-insist uninstall claude (codex ...)."
	@echo "A client that fails closed blocks every call while its hook is registered and the program is gone."
	rm -f "$(DESTDIR)$(bindir)/i-insist" "$(DESTDIR)$(mandir)/man1/i-insist.1" "$(DESTDIR)$(mandir)/man5/i-insist.5" \
		"$(DESTDIR)$(BASHCOMPDIR)/i-insist" "$(DESTDIR)$(ZSHCOMPDIR)/_i-insist" \
		"$(DESTDIR)$(FISHCOMPDIR)/i-insist.fish"
	@if $(OUR_STEER); then rm -f "$(DESTDIR)$(bindir)/steer"; fi
	@for page in README.md LICENSE src/manual/*.md; do rm -f "$(DESTDIR)$(docdir)/$${page##*/}"; done
	@if [ -d "$(DESTDIR)$(docdir)" ]; then rmdir "$(DESTDIR)$(docdir)"; fi

clean:
	$(CARGO) clean

.PHONY: all test test-runtimes check demo e2e bench fuzz lint install uninstall clean
