#!/usr/bin/env python3
"""Fuzzes every reader and quantize() for a limited time, and prints the executions and findings.

usage: fuzz.py BUILD --seconds SECONDS [--jobs 2] [TARGET …]      exit 0: nothing found
       fuzz.py BUILD --every-damage [--jobs 2] [TARGET …]

With --every-damage each seed is tested with every single bit flipped and with each truncation, instead of fuzzing.

The time is divided among the targets (all of them if none is named; models get most of it) in short turns, so that a finding
in one target does not end the others. Corpora in BUILD/corpus grow from run to run.

Failing inputs are written to BUILD/failures/TARGET. To add a regression test, minimize the input (fuzz_TARGET
-minimize_crash=1 FILE), give it a descriptive name, and add it to tests/fuzz/regressions/TARGET; `make test` replays it.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TESTDATA = pathlib.Path("/usr/share/libonnx-testdata/data")  # Debian's models of single ops
SHARES = {"quantize": 8, "model": 6, "tflite": 6, "tflite_quantize": 4, "coreml": 6, "npy": 2, "npz": 2, "zip": 2, "wav": 2, "png": 2,
          "jpeg": 2, "csv": 2,
          "jsonl": 2, "contract": 2, "ranges": 2, "journal": 2, "statement": 2, "report": 2, "config": 2}
TURN = 60  # seconds
LARGEST_TO_DAMAGE = 4096  # bytes


def in_memory():
    """A folder in memory for temporary files, if there is one."""
    memory = pathlib.Path("/dev/shm")
    return dict(os.environ, TMPDIR=str(memory)) if memory.is_dir() else None


class Tally:
    """The totals of one target."""

    def __init__(self):
        self.seconds = self.executions = self.edges = self.failures = 0

    def add(self, seconds, output, has_failed):
        self.seconds += seconds
        executed = re.findall(r"stat::number_of_executed_units: (\d+)", output) or re.findall(r"^#(\d+)", output, re.M)
        self.executions += int(executed[-1]) if executed else 0
        self.edges = max([self.edges, *map(int, re.findall(r"cov: (\d+)", output))])
        self.failures += has_failed


def corpora_of(build, target):
    own = build / "corpus" / target
    own.mkdir(parents=True, exist_ok=True)
    others = [SOURCE / "tests/fuzz" / kind / target for kind in ("seeds", "regressions")]
    others.append(build / "seeds" / target)
    if target == "model":
        others.append(TESTDATA)
    return [own, *(folder for folder in others if folder.is_dir())]


def take_turn(build, target, seconds, number):
    """One run of one fuzzer. Every second turn also rewards inputs that bring compared numbers closer to each other."""
    failures = build / "failures" / target
    failures.mkdir(parents=True, exist_ok=True)
    command = [build / "tests/fuzz" / f"fuzz_{target}", f"-max_total_time={seconds}", "-max_len=16384", "-timeout=30",
               "-rss_limit_mb=2048", "-malloc_limit_mb=1024", "-print_final_stats=1", f"-use_value_profile={number % 2}",
               f"-artifact_prefix={failures}/", *corpora_of(build, target)]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, env=in_memory(), errors="replace", text=True)
    if done.returncode != 0:
        (failures / f"report-{number}.txt").write_text(done.stderr[-20000:])
    return target, time.monotonic() - begin, done.stderr, done.returncode != 0


def damage(build, target):
    """Tests every bit flip and truncation of the seeds and of former failures; returns the number of inputs and the findings."""
    folders = [SOURCE / "tests/fuzz" / kind / target for kind in ("seeds", "regressions")] + [build / "seeds" / target]
    files = [file for folder in folders if folder.is_dir() for file in sorted(folder.iterdir())
             if file.stat().st_size <= LARGEST_TO_DAMAGE]
    failures = build / "failures" / target
    failures.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([build / "tests/fuzz/exhaust", target, *files], cwd=failures, env=in_memory(),
                          capture_output=True, errors="replace", text=True)
    return done.stdout.strip() if done.returncode == 0 else f"{target}: {failures}/exhaust-failure: {done.stderr[-2000:]}", done.returncode


def turns(targets, seconds):
    """Yields (target, seconds) until the time is used up."""
    shares = [target for target in targets for _ in range(SHARES[target])]
    rounds = max(1, round(seconds / (len(shares) * TURN)))
    length = max(1, round(seconds / (rounds * len(shares))))
    for _ in range(rounds):
        yield from ((target, length) for target in shares)


def table(build, tallies):
    lines = [f"{'target':10} {'seconds':>8} {'executions':>12} {'edges':>7} {'corpus':>7} {'found':>6}"]
    for target, tally in tallies.items():
        files = sum(1 for _ in (build / "corpus" / target).glob("*"))  # none before the first turn
        lines.append(f"{target:10} {tally.seconds:8.0f} {tally.executions:12,} {tally.edges:7,} {files:7,} {tally.failures:6}")
    totals = [sum(getattr(tally, name) for tally in tallies.values()) for name in ("seconds", "executions")]
    lines.append(f"{'all':10} {totals[0]:8.0f} {totals[1]:12,}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=60, help="total time")
    parser.add_argument("--every-damage", action="store_true", help="flip every bit and try every truncation, instead of fuzzing")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_intermixed_args()
    build = arguments.build.resolve()
    targets = arguments.targets or list(SHARES)
    if unknown := set(targets) - set(SHARES):
        parser.error(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(SHARES)}")
    examples = sorted(SOURCE.glob("examples/*/*.onnx"))
    subprocess.run([build / "tests/fuzz/make_seeds", build / "seeds", *examples], check=True)

    if arguments.every_damage:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            results = list(pool.map(lambda target: damage(build, target), targets))
        print(*(line for line, _ in results), sep="\n")
        return 1 if any(code for _, code in results) else 0

    tallies = {target: Tally() for target in targets}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        waiting = [pool.submit(take_turn, build, target, seconds, number)
                   for number, (target, seconds) in enumerate(turns(targets, arguments.seconds * arguments.jobs))]
        for done in concurrent.futures.as_completed(waiting):
            target, seconds, output, has_failed = done.result()
            tallies[target].add(seconds, output, has_failed)
            (build / "fuzzed.txt").write_text(table(build, tallies) + "\n")  # so far
            if has_failed:
                print(f"{target}: found something, see {build / 'failures' / target}", flush=True)

    print(table(build, tallies))
    return 1 if any(tally.failures for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
