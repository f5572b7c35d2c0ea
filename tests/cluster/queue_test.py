#!/usr/bin/env python3
"""Checks that workers of a queue give the bytes of one machine, also while they are killed.

usage: queue_test.py --ounce PROGRAM --example FOLDER [--workers 1,2,5] [--kills 0] [--seed N] [--figures] [VERB …]

For each VERB (calibrate, sensitivity, tune; default: all) the result of one process is compared with those of a coordinator
with 1, 2 and 5 workers (--workers): the file that is written must have the same bytes, and the document the same content except for times.
--kills N ends workers and coordinators with SIGKILL at random moments, N times in total, and starts others in their place.
--figures prints the items, the CPU time and the overhead of each run, and compares the CPU time with that of one process.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LEASE = "1s"
TIMEOUT = 600  # seconds after which a run counts as hanging
# Keys that depend on the machine, on the time, or on what earlier runs have measured.
UNSTEADY = {"duration_ns", "measured", "recalled"}


class Verb:
    def __init__(self, name, words, output):
        self.name, self.words, self.output = name, words, output

    def command(self, ounce, folder, more):
        words = [ounce, self.name, *self.words, "--json", *more]
        return words + (["-o", str(folder / self.output)] if self.output else [])


def verbs_of(example):
    model, calib, val = (str(example / name) for name in ("commands.onnx", "commands_calib.npz", "commands_val.npz"))
    sound = ["--rescale", "1/32768"]
    return {
        "calibrate": Verb("calibrate", [model, *sound, "--data", calib], "model.ranges"),
        "sensitivity": Verb("sensitivity", [model, *sound, "--data", calib, "--samples", "32"], None),
        "tune": Verb("tune", [model, *sound, "--data", val, "--labels", "label", "--budget", "12 models", "--confidence", "none",
                              "--on", "none"], "tuned.onnx"),
    }


def steady(value):
    if isinstance(value, dict):
        return {key: steady(one) for key, one in value.items() if key not in UNSTEADY}
    return [steady(one) for one in value] if isinstance(value, list) else value


def result_of(verb, folder, document):
    text = document.replace(str(folder), "<folder>")
    written = (folder / verb.output).read_bytes() if verb.output else b""
    return steady(json.loads(text)["results"]), written


class Run:
    """One result from a coordinator and workers, some of which are killed."""

    def __init__(self, ounce, verb, example, workers, kills, chance):
        self.ounce, self.verb, self.example, self.kills, self.chance = ounce, verb, example, kills, chance
        self.killed = {"worker": 0, "coordinator": 0}
        self.wanted = workers

    def worker(self):
        return subprocess.Popen(
            [self.ounce, "work", str(self.queue), "--root", str(self.example), "--idle", "10m", "--lease", LEASE],
            stdout=subprocess.DEVNULL, stderr=self.errors)

    def coordinator(self):
        more = ["--queue", str(self.queue), "--lease", "30s"]
        if self.verb.name == "calibrate":
            more += ["--parts", "12"]
        else:
            more += ["--cache", str(self.folder / "cache")]
        self.document = open(self.folder / "document", "wb")
        return subprocess.Popen(self.verb.command(self.ounce, self.folder, more), stdout=self.document, stderr=self.errors)

    def go(self):
        with tempfile.TemporaryDirectory(prefix="ounce-queue-") as name:
            self.folder = pathlib.Path(name)
            self.queue = self.folder / "queue"
            with open(self.folder / "errors", "wb") as self.errors:
                workers = [self.worker() for _ in range(self.wanted)]
                coordinator = self.coordinator()
                try:
                    coordinator = self.watch(coordinator, workers)
                finally:
                    for one in [coordinator, *workers]:
                        if one.poll() is None:
                            one.send_signal(signal.SIGTERM)
                    for one in [coordinator, *workers]:
                        one.wait()
            said = (self.folder / "errors").read_text(errors="replace")
            if coordinator.returncode != 0:
                sys.exit(f"{self.verb.name}: the coordinator ended with {coordinator.returncode}:\n{said[-3000:]}")
            self.answers = [json.loads(file.read_text()) for file in (self.queue / "done").iterdir()]
            self.require_tidy()
            return result_of(self.verb, self.folder, (self.folder / "document").read_text())

    def watch(self, coordinator, workers):
        end = time.monotonic() + TIMEOUT
        next_kill = time.monotonic() + self.pause()
        while coordinator.poll() is None:
            if time.monotonic() > end:
                sys.exit(f"{self.verb.name}: no result after {TIMEOUT} s")
            time.sleep(0.005)
            if self.kills <= 0 or time.monotonic() < next_kill:
                continue
            self.kills -= 1
            next_kill = time.monotonic() + self.pause()
            if self.chance.random() < 0.15:
                self.killed["coordinator"] += 1
                coordinator.kill()
                coordinator.wait()
                coordinator = self.coordinator()
            else:
                self.killed["worker"] += 1
                i = self.chance.randrange(len(workers))
                workers[i].kill()
                workers[i].wait()
                workers[i] = self.worker()
        return coordinator

    def pause(self):
        return self.chance.uniform(0.05, 1.2)

    def require_tidy(self):
        """Nothing waits, and each answer is there once."""
        left = [file.name for file in (self.queue / "items").iterdir()]
        names = [answer["question"] for answer in self.answers]
        if left or len(set(names)) != len(names):
            sys.exit(f"{self.verb.name}: items without an answer: {left}; {len(names)} answers to {len(set(names))} questions")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one_machine(ounce, verb):
    with tempfile.TemporaryDirectory(prefix="ounce-queue-") as name:
        folder = pathlib.Path(name)
        more = [] if verb.name == "calibrate" else ["--no-cache"]
        done = subprocess.run(verb.command(ounce, folder, more), capture_output=True, timeout=TIMEOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{verb.name}: exit {done.returncode}:\n{done.stderr[-3000:]}")
        return result_of(verb, folder, done.stdout)


def differences(expected, found, path=""):
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            yield from differences(expected.get(key), found.get(key), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for i, pair in enumerate(zip(expected, found)):
            yield from differences(*pair, f"{path}[{i}]")
    elif expected != found:
        yield f"{path}: {str(expected)[:200]} became {str(found)[:200]}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=os.path.abspath)
    parser.add_argument("--example", required=True, type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--workers", default="1,2,5")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("verbs", nargs="*")
    arguments = parser.parse_args()
    all_verbs = verbs_of(arguments.example)
    chosen = arguments.verbs or list(all_verbs)
    counts = [int(count) for count in arguments.workers.split(",")]
    chance = random.Random(arguments.seed)
    rounds = [(name, count) for name in chosen for count in counts]
    killed, failed, left = {"worker": 0, "coordinator": 0}, 0, arguments.kills
    alone = {}
    while True:
        for name, count in rounds:
            verb = all_verbs[name]
            if name not in alone:
                before = cpu_seconds()
                alone[name] = (one_machine(arguments.ounce, verb), cpu_seconds() - before)
            (expected, written), cpu_alone = alone[name]
            before, start = cpu_seconds(), time.monotonic()
            run = Run(arguments.ounce, verb, arguments.example, count, left if arguments.kills else 0, chance)
            found, found_bytes = run.go()
            wall, cpu = time.monotonic() - start, cpu_seconds() - before
            problems = list(differences(expected, found))
            if written != found_bytes:
                problems.append(f"{verb.output} has other bytes")
            failed += bool(problems)
            kills = sum(run.killed.values())
            left -= kills
            for kind in killed:
                killed[kind] += run.killed[kind]
            print(f"{name}, {count} workers: {len(run.answers)} answers, {kills} kills, "
                  f"{'DIFFERENT' if problems else 'the same'}", flush=True)
            for problem in problems[:10]:
                print(f"  {problem}")
            if arguments.figures:
                measured = sum(answer["seconds"] for answer in run.answers)
                items = max(1, len(run.answers))
                print(f"  wall {wall:.2f} s, CPU {cpu:.2f} s (one process: {cpu_alone:.2f} s; efficiency {cpu_alone / cpu:.2f}), "
                      f"measured {measured:.2f} s; more CPU per item: {(cpu - cpu_alone) / items * 1000:.1f} ms")
        if not arguments.kills or left <= 0 or failed:
            break
    if arguments.kills:
        print(f"killed: {killed['worker']} workers, {killed['coordinator']} coordinators")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
