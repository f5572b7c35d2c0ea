#!/usr/bin/env python3
"""Makes the k-th system call fail, for every k: the program must report it in one line and leave no partial output.

usage: campaign.py --ounce PROGRAM --shim LIBRARY --models FOLDER [options]

  --verb VERB     only this one: w8, static, dynamic, tune or verify (repeatable)
  --call CALL     only this one, such as malloc, mmap, spawn, thread, open or write (repeatable)
  --who WHO       only the calls of the program, or of the runner that it starts
  --at K          only this call
  --all N         every k up to N (default 2000)
  --every N       and every N-th k above it (default: such that 1000 are left)
  --sample N      N of all k instead, including the first and the last
  --lasting       all calls from the k-th on fail (temporary files may be left: removing them takes memory and files)
  --minutes M     start no more runs after this time, and print the skipped ones
  --jobs N        parallel runs (default 1)

The shim (fault_shim.cpp) makes exactly one call fail in each run: no memory, a full disk, no more processes. Then
  - the exit code must be a documented one that fits (not that of a failed gate or of a bug), and no signal may end it,
  - standard error must have one line if it failed, and nothing if not,
  - the result must be the old or the complete new one, without other files; the model and its data must be unchanged,
  - no temporary file and no process may be left,
  - after a failure of `tune`, the same run must succeed with the measurements that the failed run kept.
Exits with 1 for any violation, and prints the stack of the failed call.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import shim

PATIENCE = 600  # seconds after which a run counts as hanging
# The errors of each call. Without unlink: a file that cannot be removed is left behind.
ERRORS = {
    "malloc": "ENOMEM", "mmap": "ENOMEM", "spawn": "EAGAIN", "thread": "EAGAIN", "socketpair": "EMFILE",
    "open": "EMFILE", "open_tmpfile": "EMFILE", "write": "ENOSPC", "pwrite": "ENOSPC", "send": "EPIPE",
    "fallocate": "ENOSPC", "ftruncate": "EIO", "fsync": "EIO", "linkat": "EIO", "rename": "EACCES",
}
# A failure of the system is 4. A runner without memory may be the model's fault: 2, or 3 if nothing can be compared. A
# runner that crashes cannot be distinguished from one crashed by the model, and the message says so.
CODES = {"program": {0, 4}, "runner": {0, 2, 3, 4}}
ONE_LINE = re.compile(r"ounce: [^\n]+\n")

HERE = ["--on", "none"]  # only this CPU: others take seconds
VERBS = {
    "w8": (["external.onnx", "external.data"], ["quantize", "in/external.onnx", "-o", "out/model.onnx", "--threads", "4"]),
    "static": (["small_convs.onnx", "small_convs.npz"],
               ["quantize", "in/small_convs.onnx", "-o", "out/model.onnx", "--threads", "4", "--to", "int8", *HERE,
                "--data", "in/small_convs.npz"]),
    "dynamic": (["signal.onnx"], ["quantize", "in/signal.onnx", "-o", "out/model.onnx", "--threads", "4", "--to", "int8-dynamic", *HERE]),
    "tune": (["signal.onnx", "signal.npz"],
             ["tune", "in/signal.onnx", "-o", "out/model.onnx", *HERE, "--budget", "4 models", "--data", "in/signal.npz"]),
    "verify": (["signal.onnx", "signal.npz"], ["verify", "in/signal.onnx", "in/candidate.onnx", "--data", "in/signal.npz"]),
}


@dataclasses.dataclass
class Fault:
    verb: str
    who: str
    call: str
    at: int


@dataclasses.dataclass
class Outcome:
    fault: Fault
    code: int
    was_made: bool
    problems: list
    stderr: str
    stack: str


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def processes_with(word):
    """Processes whose environment contains this word."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and word in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has ended, or belongs to another user
            pass
    return found


def without_times(report):
    lines = re.sub(r"\b[\d.]+ (ms|s)\b", "#", report).splitlines()
    return "\n".join(re.sub(r"[ -]+", " ", line) for line in lines)


class Scene:
    """A folder for one run at a time: `in` has the model, `out` the older result, `tmp` temporary files."""

    def __init__(self, root, settings, verb):
        self.root, self.settings, self.verb = root, settings, verb
        files, self.arguments = VERBS[verb]
        for name in ("in", "out", "tmp", "home"):
            (root / name).mkdir(parents=True)
        for name in files:
            shutil.copy(settings.models / name, root / "in" / name)
        if verb == "verify":
            self.must_run(["quantize", f"in/{files[0]}", "-o", "in/candidate.onnx", "--to", "int8-dynamic", "--no-verify"])
        else:
            shutil.copy(settings.models / "fans.onnx", root / "out" / "model.onnx")  # any other model
        self.source, self.old = contents(root / "in"), contents(root / "out")
        self.text = self.must_run(self.arguments, counts="counts")
        self.new = contents(root / "out")
        self.counts = shim.read_counts(root / "counts")[1]

    def must_run(self, arguments, **faults):
        code, out, error = self.run(arguments, **faults)
        if (code, error) != (0, ""):
            raise SystemExit(f"campaign.py: {self.verb}: fails without a fault, too: {code} {error}")
        return out

    def run(self, arguments, **faults):
        environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(self.root / "tmp"), "HOME": str(self.root / "home"),
                       "OUNCE_CACHE": str(self.root / "cache"), **shim.variables(self.settings.shim, **faults)}
        for name in ("OUNCE_ONNXRUNTIME", "OUNCE_RUNNER"):
            if name in os.environ:
                environment[name] = os.environ[name]
        process = subprocess.Popen([self.settings.ounce, *arguments], cwd=self.root, env=environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, error = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill_all()
            out, error = process.communicate()
            return "hangs", out, error
        return process.returncode, out, error

    def is_whole(self, seen):
        """True for another result that `tune` may give: the best one so far, or another one because a model did not run."""
        return list(seen) == ["model.onnx"] and self.run(["inspect", "out/model.onnx"])[0] == 0

    def first_difference(self, out):
        pairs = zip(without_times(out).splitlines() + [""], without_times(self.text).splitlines() + [""])
        return next((given for given, wanted in pairs if given != wanted), "")

    def left_processes(self):
        """Processes that are still running; a runner may need some time to notice that the program has ended."""
        until = time.monotonic() + PATIENCE
        while (left := processes_with(str(self.root / "tmp").encode())) and time.monotonic() < until:
            time.sleep(0.01)
        return left

    def kill_all(self):
        for process in processes_with(str(self.root / "tmp").encode()):
            os.kill(process, signal.SIGKILL)

    def restore(self):
        for name in ("out", "tmp", "cache"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        for name in ("out", "tmp"):
            (self.root / name).mkdir()
        for name, data in self.old.items():
            (self.root / "out" / name).write_bytes(data)
        for name in ("counts", "trace"):
            (self.root / name).unlink(missing_ok=True)

    def attempt(self, fault):
        self.restore()
        more = {"lasting": 1} if self.settings.lasting else {}
        code, out, error = self.run(self.arguments, call=fault.call, at=fault.at, do=ERRORS[fault.call], who=fault.who,
                                    counts="counts", trace="trace", **more)
        trace = self.root / "trace"
        outcome = Outcome(fault, code, shim.read_counts(self.root / "counts")[0] > 0, [], error,
                          trace.read_text() if trace.exists() else "")
        outcome.problems = list(self.problems(fault, code, out, error))
        return outcome

    def problems(self, fault, code, out, error):
        if code == "hangs":
            yield f"hangs: not done after {PATIENCE} s"
        elif code < 0:
            yield f"ended by {signal.Signals(-code).name}"
        elif code not in CODES[fault.who] and not (fault.who == "runner" and "crashed with SIG" in out + error):
            yield f"exit code {code}"
        if code == 0 and error:
            yield "done, with something on standard error"
        if code not in (0, 1) and not ONE_LINE.fullmatch(error):
            yield f"{error.count(chr(10))} lines on standard error"
        if code == 0 and fault.who == "program" and without_times(out) != without_times(self.text):
            yield f"another report: {self.first_difference(out)}"
        seen = contents(self.root / "out")
        if code == 0 and seen != self.new and not (self.verb == "tune" and fault.who == "runner" and self.is_whole(seen)):
            yield "another result"
        if code != 0 and seen not in (self.old, self.new) and not (self.verb == "tune" and self.is_whole(seen)):
            yield f"neither the old result nor the new one: {sorted(seen)}"
        if contents(self.root / "in") != self.source:
            yield "the model was changed"
        if left := self.left_processes():
            yield f"{len(left)} processes are still running"
            self.kill_all()
        left = [str(path.relative_to(self.root)) for path in (self.root / "tmp").rglob("*")]
        if left and not self.settings.lasting:
            yield f"temporary files are left: {left}"
        if self.verb == "tune" and code != 0:
            again, _, error = self.run(self.arguments)
            if again != 0 or contents(self.root / "out") != self.new:
                yield f"the same run after it gives {again}: {error.strip() or 'another result'}"


def spread(count, number):
    """This many numbers of 1 to count, including the first and the last."""
    if count <= number:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / max(1, number - 1)) for i in range(number)})


def chosen(count, settings):
    if settings.at:
        return [settings.at] if settings.at <= count else []
    if settings.sample:
        return spread(count, settings.sample)
    every = settings.every or max(1, (count - settings.all) // 1000)
    return [*range(1, min(count, settings.all) + 1), *range(settings.all + every, count + 1, every)]


def run_verb(verb, settings, root, until):
    """Gives for each (who, call) its count, and an outcome for every fault."""
    scenes = queue.SimpleQueue()
    first = Scene(root / verb / "0", settings, verb)
    scenes.put(first)
    for i in range(1, settings.jobs):
        scenes.put(Scene(root / verb / str(i), settings, verb))
    faults = [Fault(verb, who, call, at) for who in settings.who for call in settings.call
              for at in chosen(first.counts[who][call], settings)]
    random.Random(1).shuffle(faults)  # so that a campaign that is stopped early has tried all kinds

    def attempt(fault):
        if time.monotonic() > until:
            return None
        scene = scenes.get()
        try:
            return scene.attempt(fault)
        finally:
            scenes.put(scene)

    with concurrent.futures.ThreadPoolExecutor(settings.jobs) as pool:
        outcomes = [outcome for outcome in pool.map(attempt, faults) if outcome]
    return first.counts, outcomes, len(faults) - len(outcomes)


def print_findings(outcomes):
    """Groups findings that differ only in numbers, with the stack of the first."""
    alike = collections.defaultdict(list)
    for outcome in outcomes:
        if outcome.problems:
            fault = outcome.fault
            words = (fault.verb, fault.who, fault.call, *outcome.problems, outcome.stderr)
            alike[tuple(re.sub(r"\d+", "#", word) for word in words)].append(outcome)
    for group in alike.values():
        group.sort(key=lambda outcome: outcome.fault.at)
        first, fault = group[0], group[0].fault
        places = " ".join(str(outcome.fault.at) for outcome in group[:20])
        print(f"{fault.verb}, {fault.who}, {fault.call} {places}: {'; '.join(first.problems)} ({len(group)} times)")
        for line in [*first.stderr.splitlines()[:5], *first.stack.splitlines()]:
            print(f"    {line}")


def table(verb, counts, outcomes):
    rows = []
    for who in shim.WHO:
        for call, count in counts[who].items():
            of_it = [outcome for outcome in outcomes if (outcome.fault.who, outcome.fault.call) == (who, call)]
            made = [outcome for outcome in of_it if outcome.was_made]
            codes = collections.Counter(str(outcome.code) for outcome in made)
            if of_it:
                rows.append([verb, who, call, str(count), str(len(made)),
                             " ".join(f"{code}:{times}" for code, times in sorted(codes.items())),
                             str(sum(bool(outcome.problems) for outcome in of_it))])
    return rows


def print_table(rows):
    rows = [["verb", "who", "call", "count", "injected", "by exit code", "findings"], *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("ounce", "shim", "models"):
        parser.add_argument("--" + name, required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--verb", action="append", choices=VERBS)
    parser.add_argument("--call", action="append", choices=ERRORS)
    parser.add_argument("--who", action="append", choices=shim.WHO)
    for name in ("at", "every", "sample"):
        parser.add_argument("--" + name, type=int)
    parser.add_argument("--all", type=int, default=2000)
    parser.add_argument("--lasting", action="store_true")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=1)
    settings = parser.parse_args()
    settings.verb = settings.verb or list(VERBS)
    settings.call = settings.call or list(ERRORS)
    settings.who = settings.who or shim.WHO
    return settings


def main():
    settings = arguments()
    until = time.monotonic() + 60 * settings.minutes
    rows, findings, left_out = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="ounce-campaign-") as root:
        for verb in settings.verb:
            counts, outcomes, missing = run_verb(verb, settings, pathlib.Path(root), until)
            rows += table(verb, counts, outcomes)
            print_findings(outcomes)
            sys.stdout.flush()
            findings += sum(bool(outcome.problems) for outcome in outcomes)
            left_out += missing
    print_table(rows)
    if left_out:
        print(f"skipped for lack of time: {left_out}")
    print(f"findings: {findings}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
