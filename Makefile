# Penstock's commands. `make help` lists them; CONTRIBUTING.md explains them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)

.PHONY: help build run package test unit bench lint format asan tsan fuzz clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

build: ## the release binary, build/release/penstock
	@[[ -x build/release/penstock ]] || echo "make build: installs the packages that are missing to build, then compiles; about 4 minutes on 2 cores the first time"
	@tools/setup build
	@tools/setup console || echo "Node.js and npm could not be installed: the daemon is built without its console" >&2
	@tools/build release penstock

run: build ## build, then start the daemon on the embedded store and print its address
	@exec build/release/penstock serve $(ARGS)

package: ## Debian packages in build/packages: the daemon, the library, its development files
	@tools/setup build package
	@tools/setup console || echo "Node.js and npm could not be installed: the packages hold no console" >&2
	@tools/package

unit: ## the inner loop: unit tests of a debug build
	@tools/setup build unit
	@tools/build dev
	@tools/run_tests -L unit dev

test: ## everything: all suites, all sanitizers, fuzzers, quick lint, real servers
	@tools/setup build unit sanitize test servers lint
	@tools/setup console || echo "Node.js and npm could not be installed: the console is not tested" >&2
	@tools/run_tests --build test asan tsan

asan: ## unit and conformance suites with the address and undefined-behaviour sanitizers
	@tools/setup build unit sanitize
	@tools/run_tests --build -L 'unit|conformance' asan

tsan: ## unit and conformance suites with the thread sanitizer
	@tools/setup build unit
	@tools/run_tests --build -L 'unit|conformance' tsan

fuzz: ## each fuzz target for SECONDS_EACH (default 60)
	@tools/setup build unit sanitize
	@tools/build asan fuzz_targets
	@fuzz/run.sh $(or $(SECONDS_EACH),60)

bench: ## all benchmarks, or one: make bench NAME=http
	@tools/setup build bench
	@tools/build bench
	@tools/bench $(NAME)

lint: ## formatting, layers, shell, Python, the console, and clang-tidy over all sources
	@tools/setup build sanitize lint
	@tools/lint

format: ## clang-format over all sources
	@tools/setup lint
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

clean: ## remove build/
	rm -rf build
