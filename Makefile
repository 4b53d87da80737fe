# Every door of the project. A target installs what it lacks (deploy/need.sh), then calls a CMake preset.
#
#   make              build the SDK, the server and the dashboard
#   make test         everything: structure, unit, integration, SQL, web, end to end
#   make check        the quick tests, format and clang-tidy: run it before pushing
#   make demo         a real program hangs, and the dashboard says why
#   make help         the other targets

PRESET   ?= release
SECS     ?= 60
KILLS    ?= 1000
MILLIONS ?= 345
JOBS     ?= $(shell nproc)
PREFIX   ?= /usr/local

export SECS KILLS
export PATH := $(CURDIR)/build/node/bin:$(PATH)
MAKEFLAGS += --no-print-directory

# Building for one preset: $(call build,PRESET[,--target T]).
build = cmake --preset $(1) --log-level=WARNING > /dev/null && cmake --build --preset $(1) -j $(JOBS) $(2)
ctest = ctest --preset $(1) -j $(JOBS) $(2)
# Folder of a preset; ci builds where release does.
built = $(CURDIR)/build/$(patsubst ci,release,$(PRESET))

.PHONY: all build test check asan tsan aarch64 aar android-matrix fuzz bench e2e fmt demo demo-once install symbols-proof corpus exits torture oracle soak network programs replay contract faults package package-bare image release clean help

all: build

build:
	@deploy/need.sh build web
	@$(call build,$(PRESET))
	@cmake --build --preset $(PRESET) --target web

test: build
	@deploy/need.sh test android aarch64
	@tests/run.sh $(PRESET) $(JOBS)

check: build
	@deploy/need.sh test tidy
	@$(call ctest,$(PRESET),-L 'structure|unit')
	@$(call build,$(PRESET),--target tidy)

asan tsan:
	@deploy/need.sh build test
	@$(call build,$@)
	@$(call ctest,$@,-L 'unit|integration|fuzz')

aarch64:
	@deploy/need.sh build aarch64
	@deploy/sysroot.sh arm64 build/aarch64-root
	@$(call build,$@)
	@$(call ctest,$@)

.PHONY: key
key:
	@deploy/need.sh build test
	@$(call build,$@)
	@$(call ctest,$@)

.PHONY: apple
apple:
	@deploy/need.sh test
	@deploy/apple.py build/apple/out

.PHONY: apple-swift
apple-swift:
	@deploy/need.sh test
	@deploy/swift.sh

fuzz:
	@deploy/need.sh build fuzz
	@$(call build,fuzz,--target fuzz)

bench: bench-all

bench-%:
	@deploy/need.sh build test $(if $(filter bench-symbols bench-all,$@),symbols) $(if $(filter bench-memory bench-all,$@),memory)
	@$(call build,$(PRESET),--target $@ -- -k 0)

symbols-proof:
	@deploy/need.sh build symbols
	@$(call build,$(PRESET),--target $@)

android-matrix: build
	@deploy/need.sh test android
	@$(call build,$(PRESET),--target $@)

aar: export JOBS := $(JOBS)
aar:
	@deploy/need.sh build android
	@sdk/android/aar.py

corpus: build
	@deploy/need.sh test
	@$(call build,$(PRESET),--target corpus)

exits: build
	@$(call build,$(PRESET),--target exits)

programs: export ONLY := $(ONLY)
programs: build
	@deploy/need.sh test programs
	@$(call build,$(PRESET),--target programs)

network: build
	@deploy/need.sh test
	@$(call build,$(PRESET),--target network)

torture: build
	@$(call build,$(PRESET),--target torture-all)

oracle: build
	@$(call build,$(PRESET),--target oracle-all)

soak: export MIRE_MILLIONS := $(MILLIONS)
soak: build
	@$(call build,$(PRESET),--target $@)

replay: build
	@$(call build,$(PRESET),--target replay-all)

package: build
	@MIRE_BINARY_DIR=$(built) deploy/package/package.sh

SUITES ?= bookworm
package-bare: package
	@deploy/need.sh image
	@deploy/package/bare.sh $(SUITES)

image: package
	@deploy/need.sh image
	@deploy/package/image.sh
	@$(call ctest,$(PRESET),-R integration/image)

release:
	@deploy/release.sh "$(VERSION)"

contract: build
	@MIRE_SOURCE_DIR=$(CURDIR) MIRE_BINARY_DIR=$(built) tests/schemathesis/contract.py

faults: build
	@ONLY='$(ONLY)' MIRE_SOURCE_DIR=$(CURDIR) MIRE_BINARY_DIR=$(built) tests/bench/faults.py

e2e: build
	@deploy/need.sh test
	@$(call ctest,$(PRESET),-L e2e)

fmt:
	@deploy/need.sh build test
	@$(call build,$(PRESET),--target fmt)

demo: build
	@deploy/need.sh demo
	@deploy/demo.sh

demo-once: build
	@deploy/need.sh demo
	@DEMO_EXIT=1 deploy/demo.sh

install: build
	@as=; mkdir -p "$(PREFIX)" 2> /dev/null && [ -w "$(PREFIX)" ] || as=sudo; \
	  $$as sh -c 'cmake --install build/release --prefix "$(PREFIX)" > /dev/null && rm -f build/release/install_manifest.txt && \
	    if [ "$$(id -u)" = 0 ]; then ldconfig; fi'
	@echo 'installed into $(PREFIX)'

clean:
	@rm -rf build web/dist web/node_modules

help:
	@echo 'make              build the SDK, the server and the dashboard'
	@echo 'make test         structure, unit, integration, SQL, web, end to end'
	@echo 'make check        structure and unit tests, clang-tidy; quick'
	@echo 'make asan tsan    the tests under address+undefined or thread sanitizer'
	@echo 'make key          the SDK with thread-local state by pthread keys, as on Android and Apple: its tests'
	@echo 'make aarch64      the SDK for 64-bit ARM under qemu: unit tests, the heap monitor, kills'
	@echo 'make aar          the library for Android as a Maven repository in build/aar'
	@echo 'make android-matrix  the Java layer on the Looper of five versions of Android'
	@echo 'make apple        the SDK for macOS and iOS, compiled and linked without a Mac (docs/apple.md)'
	@echo 'make apple-swift  the Swift package, built for macOS and iOS by a real SwiftPM; fetches 540 MB once'
	@echo 'make fuzz SECS=60 every parser, that long each'
	@echo 'make bench        every measurement; make bench-NAME one of them (tests/bench)'
	@echo 'make symbols-proof  answers at 500,000 addresses of large debug files beside those of llvm-symbolizer'
	@echo 'make corpus       hangs of which everything is known, and what Mire says of them (docs/corpus.md)'
	@echo 'make exits        programs ended in every way, and the verdict on each (docs/exits.md)'
	@echo 'make programs     programs of Debian hung in known ways and ended; ONLY=vim,redis for some (tests/programs)'
	@echo 'make network      a network that fails in every way, and whether each report is stored once (docs/delivery.md)'
	@echo 'make torture      10,000 samples each inside malloc, dlopen, fork and what else has deadlocked samplers'
	@echo 'make oracle KILLS=10000  programs killed at any instant, and whether every block they held is told'
	@echo 'make soak         as many allocations as a process makes in two days, and whether the tables grow'
	@echo 'make replay       the device store killed, and its power lost, at every instant (docs/store.md)'
	@echo 'make contract     every operation of the API asked at random, with every role; MAX_S=60 each'
	@echo 'make faults       mired killed, starved and frozen under load: acknowledged, missing, twice; ONLY=disk for some'
	@echo 'make package      Debian packages of mired, mire-run and libmire in build/packages'
	@echo 'make package-bare SUITES="bookworm trixie"  those, on bare systems of Debian; as root; fetches 100 MB a suite'
	@echo 'make image        the container image of mired with its SBOM in build/images, without a container engine; as root'
	@echo 'make release VERSION=0.2.0  version, changelog, tag, and what is given out with its checksums'
	@echo 'make e2e          the end-to-end tests alone'
	@echo 'make fmt          clang-format over the C code'
	@echo 'make demo         a real program hangs and the dashboard says why; Ctrl-C ends it'
	@echo 'make demo-once    the same, and ends when the issues are shown'
	@echo 'make install      into PREFIX=/usr/local'
	@echo 'make clean        remove what was built'
