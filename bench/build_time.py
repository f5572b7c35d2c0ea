#!/usr/bin/env python3
"""Measures a full build in a new folder: `make build`, or with --tests the build of `make test`.

usage: bench/build_time.py [--tests] [--longest 10] [--keep folder]

The compiler cache is off. Compare CPU minutes (user and system, of all processes), which hardly depend on other work of the
machine. The seconds in the table are wall times of ninja's steps, which do.
"""

import argparse
import collections
import os
import pathlib
import resource
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def build(folder, tests):
    """CPU and wall seconds of the build; configuring is not counted."""
    environment = {k: v for k, v in os.environ.items() if k != "CMAKE_CXX_COMPILER_LAUNCHER"} | {"CCACHE_DISABLE": "1"}
    configure = ["cmake", "--preset", "default", "-B", folder, f"-DOUNCE_TESTS={'ON' if tests else 'OFF'}", "-DOUNCE_BENCH=OFF"]
    subprocess.run(configure, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(["cmake", "--build", folder], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, end - start


def steps(folder):
    """Seconds per output file, from .ninja_log; absolute paths duplicate relative ones."""
    lines = (line.split("\t") for line in (pathlib.Path(folder) / ".ninja_log").read_text().splitlines()[1:])
    return {path: (int(end) - int(start)) / 1000 for start, end, _, path, _ in lines if not path.startswith("/")}


def owner(path):
    """The folder of a step: src/search, arm64, or "tests of" a folder."""
    place = path.split("/CMakeFiles/")[0] if "/CMakeFiles/" in path else os.path.dirname(path) or "programs"
    tested = path.partition(".dir/__/src/")[2]
    return f"tests of {tested.split('/')[0]}" if tested else place


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", action="store_true", help="build the tests as well")
    parser.add_argument("--longest", type=int, default=10, help="how many single files to list")
    parser.add_argument("--keep", help="build here and leave it")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ounce_build_") as temporary:
        folder = asked.keep or temporary
        cpu, wall = build(folder, asked.tests)
        made = steps(folder)
    objects = sum(path.endswith((".o", ".gch")) for path in made)
    print(f"{cpu / 60:.1f} CPU minutes, {wall / 60:.1f} minutes on {os.cpu_count()} cores, {objects} objects\n")
    seconds, files = collections.Counter(), collections.Counter()
    for path, took in made.items():
        seconds[owner(path)] += took
        files[owner(path)] += 1
    for place, took in seconds.most_common():
        print(f"{took:8.1f} s {files[place]:4} {place}")
    print()
    for path, took in sorted(made.items(), key=lambda step: -step[1])[:asked.longest]:
        print(f"{took:8.1f} s {path}")


if __name__ == "__main__":
    main()
