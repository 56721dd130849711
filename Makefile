# The commands a person types. CMake does the building; `make` alone lists what there is.

PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
BENCH_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo build module python wheel wheels wheeltest test unit bench install format tidy asan tsan world kills slurm fuzz clean

help: ## Print this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

demo: build ## Install what is missing, build, and run the main job on built-in defaults
	@build/release/muster demo

build: ## Build the command into build/release/muster
	@scripts/setup build
	@scripts/build release muster

module: # What a package is made of; no command of its own.
	@scripts/setup python
	@scripts/python-env build
	@scripts/build python _core muster_stub muster-keeper

python: module ## Build the Python package and install it into the virtual environment build/venv
	@scripts/python-install

wheel: module ## Build a wheel of the Python package that carries its libraries, into build/wheels
	@scripts/wheel

wheels: module ## The same for every Python from 3.9 to 3.13 that is here; its tests run with each: scripts/wheel-suite
	@scripts/wheel all

wheeltest: wheel ## Install the wheel in a Debian with nothing but Python, and use it there
	@scripts/wheel-test

test: ## Install what is missing, build and run all tests; ends with "N passed, N failed"
	@scripts/setup test
	@scripts/test

unit: ## Run the tests alone, without the sanitizers, formatting and clang-tidy
	@scripts/setup test
	@scripts/test unit

bench: ## Build and run the benches of bench/ and print their figures (BENCH_ARGS is passed on)
	@scripts/setup build
	@scripts/build bench muster muster_benches
	@scripts/bench $(BENCH_ARGS)

install: ## Install command, man page, completions and presets under PREFIX (default /usr/local) in DESTDIR
	@scripts/setup build
	@scripts/build release muster
	@DESTDIR="$(DESTDIR)" cmake --install build/release --strip --prefix "$(PREFIX)"

format: ## Rewrite the sources in the house format
	@scripts/setup test
	@scripts/format-check --fix

tidy: ## Run clang-tidy on the files that changed since it last passed
	@scripts/setup test
	@scripts/test tidy

asan: ## Run the tests under the address and undefined-behaviour sanitizers
	@scripts/setup test
	@scripts/test asan

tsan: ## Run the tests that use threads under the thread sanitizer
	@scripts/setup test
	@scripts/test tsan

world: ## Run the daemon's core through 100,000 simulated worlds with random faults
	@scripts/setup test
	@scripts/build test daemon_test
	@MUSTER_WORLDS=100000 build/test/daemon_test --gtest_filter='*CoreWorlds*'

kills: ## Kill a real daemon, its keepers and its jobs 10,000 times
	@scripts/setup test
	@scripts/build test muster muster_test_programs
	@MUSTER=$(CURDIR)/build/test/muster MUSTER_KILLS=10000 tests/e2e/kills.sh

slurm: ## On a Slurm of our own: kill its daemons and ours; run 200 and 1,000 jobs beside the simulator and Slurm alone
	@scripts/setup test
	@scripts/test slurm

fuzz: ## Fuzz every reader for FUZZ_SECONDS each (default 60)
	@scripts/setup test
	@scripts/build fuzz muster_fuzzers
	@scripts/fuzz $(FUZZ_SECONDS)

clean: ## Remove everything that was built
	@rm -rf build
