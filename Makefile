# Targets for development. Each installs its dependencies (./setup) and needs no other target first.
#
#   make build      build/ounce
#   make test       the whole test suite
#   make test-publish   published models in transformers.js and onnxruntime-genai (700 MB by npm and pip)
#   make test-report    the HTML report of the demo in headless Chromium, with axe-core (150 MB by apt, pip and npm)
#   make test-ray       ounce.ray on a Ray cluster of three nodes on this machine, with kills (700 MB by pip)
#   make test-docs      every command in the documentation
#   make docs       the generated pages: command line, JSON, APIs, support by version, outputs of the tutorial; table and picture in README
#   make site       the documentation as a static site in build/site (mkdocs by pip)
#   make test-kotlin   compile and run the Kotlin extensions (compiler by Maven)
#   make demo       build, then every verb on the embedded example
#   make bench      the benchmarks: speed and memory, as ratios
#   make support-matrix   measure the support of every op in every release of ONNX Runtime and LiteRT (half an hour)
#   make lint       format, clang-tidy, and the rules of the project
#   make format     format the sources
#   make asan       the tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   make tsan       the tests under ThreadSanitizer
#   make fuzz       libFuzzer on every reader of files and quantize(), for FUZZ_SECONDS (600) in total
#   make campaign   long tests (hours): fuzzing, every bit flip, failing calls, kills, limits, races, an oracle, Valgrind, asan, tsan
#   make install    programs, libraries, manual and CMake package in PREFIX (/usr/local)
#   make package    wheels, archives and .debs for x86_64 and aarch64 in build-package/dist
#   make test-package   install each package in an empty Debian and run the demo there
#   make clean      remove all build folders
#   make help       this table

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
# Time for the fuzzers; the other parts together take about as long.
CAMPAIGN_SECONDS ?= 7200

# Not `:=`, so that ccache is found if ./setup installs it during this run.
export CMAKE_CXX_COMPILER_LAUNCHER = $(shell command -v ccache)
# ccache needs this to cache compilations with a precompiled header.
export CCACHE_SLOPPINESS = pch_defines,time_macros

.PHONY: build test test-publish test-kotlin test-report test-ray test-docs docs site demo bench support-matrix lint format asan tsan fuzz campaign install package test-package clean help

build:
	./setup build runtime
	cmake --preset default -DOUNCE_TESTS=OFF -DOUNCE_BENCH=OFF
	cmake --build --preset default

# Written models must run in the newest ONNX Runtime and in an older one that is still in use.
test:
	./setup build test arm64 runtime litert
	./setup runtime 1.22.0 1.22.0:aarch64
	cmake --preset default -DOUNCE_TESTS=ON -DOUNCE_BENCH=OFF
	cmake --build --preset default
	OUNCE_CPUS_REQUIRED=1 OUNCE_LITERT_REQUIRED=1 ctest --preset default

test-publish: build
	./setup publish
	tests/publish/run.sh build/ounce build/publish

test-report: build
	./setup report
	tests/report/run.sh build/ounce build/report

test-ray: build
	./setup ray
	tests/cluster/run_ray.sh build/libounce.so examples/commands build/ray --workers 1,2,5
	tests/cluster/run_ray.sh build/libounce.so examples/commands build/ray --workers 5,2,1 --kills 50

test-docs: build
	python3 tests/docs/docs_test.py --ounce build/ounce --examples examples README.md docs/*.md docs/*/*.md

docs: build
	./setup report
	python3 tools/cli_reference.py build/ounce --write docs/reference/cli.md
	python3 tools/check_messages.py --write build/ounce
	python3 tools/result_types.py build/ounce
	python3 tools/python_verbs.py build/libounce.so
	python3 tools/api_reference.py
	python3 tools/failure_map.py build/ounce --example examples/commands --write docs/reference/failure-modes.md
	python3 tests/docs/docs_test.py --write --ounce build/ounce --examples examples docs/get-started/tutorial.md docs/get-started/faq.md
	OUNCE_LIBRARY=$(CURDIR)/build/libounce.so PYTHONPATH=$(CURDIR)/python /usr/bin/python3 tests/docs/notebook_test.py --write examples/quickstart.ipynb
	python3 tools/readme_table.py build/ounce examples/commands README.md
	tools/report_picture.sh build/ounce docs/report.png

site:
	./setup site
	tools/site.sh build/site

test-kotlin:
	./setup build test runtime kotlin
	cmake --preset default -DOUNCE_TESTS=ON -DOUNCE_BENCH=OFF
	cmake --build --preset default --target ounce_jni ounce_runner
	tests/jvm/kotlin.sh build build/kotlin

demo: build
	./build/ounce demo

bench:
	./setup build bench
	cmake --preset default -DOUNCE_TESTS=OFF -DOUNCE_BENCH=ON
	cmake --build --preset default --target bench

support-matrix:
	./setup build runtime arm64 matrix
	tools/support_matrix/run.sh
	tools/support_matrix/litert/run.sh

lint:
	./setup build test runtime lint
	cmake --preset default -B build-lint -DOUNCE_TESTS=ON -DOUNCE_BENCH=OFF -DOUNCE_JOIN=OFF
	tools/lint.sh build-lint

format:
	./setup lint
	tools/lint.sh --format

asan tsan:
	./setup build test runtime litert
	./setup runtime 1.22.0
	cmake --preset $@
	cmake --build --preset $@
	ctest --preset $@

fuzz:
	./setup build fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	python3 tests/fuzz/fuzz.py build-fuzz --seconds $(FUZZ_SECONDS)

campaign:
	./setup build test runtime litert campaign
	$(MAKE) fuzz FUZZ_SECONDS=$(CAMPAIGN_SECONDS)
	python3 tests/fuzz/fuzz.py build-fuzz --every-damage
	cmake --preset default -DOUNCE_TESTS=ON -DOUNCE_BENCH=OFF
	cmake --build --preset default
	python3 tests/memcheck/memcheck.py --ounce build/ounce --model examples/commands/commands.onnx
	tests/oracle/run.sh build/ounce build/oracle 3600
	python3 tests/faults/campaign.py --ounce build/ounce --shim build/tests/faults/libfault_shim.so --models build/tests/cli/models --jobs 2
	python3 tests/faults/kills.py --ounce build/ounce --models build/tests/cli/models --example examples/commands --count 100
	python3 tests/faults/limits.py --ounce build/ounce --models build/tests/cli/models --example examples/commands
	python3 tests/cluster/queue_test.py --ounce build/ounce --example examples/commands --workers 1,2,5 --kills 200
	python3 tests/faults/races.py --ounce build/ounce --models build/tests/cli/models --shim build/tests/faults/libfault_shim.so --rounds 50
	$(MAKE) asan tsan

install: build
	cmake --install build --prefix $(PREFIX)

package:
	./setup build runtime package
	packaging/package.sh

test-package: build package
	./setup build test arm64 runtime package
	./setup runtime 1.22.0 1.22.0:aarch64
	packaging/test.sh

clean:
	rm -rf build build-*

help:
	@sed -n 's/^#   //p' Makefile
