# Penstock's commands. `make help` lists them; CONTRIBUTING.md explains them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)

.PHONY: help build run package test unit bench lint format asan tsan fuzz clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

build: ## the release binary, build/release/penstock
	@tools/setup build test
	@tools/setup console || echo "Node.js and npm could not be installed: the daemon is built without its console" >&2
	@tools/build release penstock

run: build ## build, then start the daemon on the embedded store and print its address
	@exec build/release/penstock serve $(ARGS)

package: ## Debian packages in build/packages: the daemon, the library, its development files
	@tools/setup build test package
	@tools/setup console || echo "Node.js and npm could not be installed: the packages hold no console" >&2
	@tools/package

unit: ## the inner loop: unit tests of a debug build
	@tools/setup build test
	@tools/build dev
	@tools/run_tests dev -L unit

test: ## everything: all suites, all sanitizers, fuzzers, real servers
	@tools/setup build test servers
	@tools/setup console || echo "Node.js and npm could not be installed: the console is not tested" >&2
	@tools/test_all

asan: ## unit and conformance suites with the address and undefined-behaviour sanitizers
	@tools/setup build test
	@tools/build asan
	@tools/run_tests asan -L 'unit|conformance'

tsan: ## unit and conformance suites with the thread sanitizer
	@tools/setup build test
	@tools/build tsan
	@tools/run_tests tsan -L 'unit|conformance'

fuzz: ## each fuzz target for SECONDS (default 60)
	@tools/setup build test
	@tools/build fuzz
	@fuzz/run.sh $(or $(SECONDS_EACH),60)

bench: ## all benchmarks, or one: make bench NAME=http
	@tools/setup build test bench
	@tools/build bench
	@tools/bench $(NAME)

lint: ## formatting, clang-tidy, shell and layer checks
	@tools/setup build test lint
	@tools/lint

format: ## clang-format over all sources
	@tools/setup lint
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

clean: ## remove build/
	rm -rf build
