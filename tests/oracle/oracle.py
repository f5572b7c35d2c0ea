#!/usr/bin/env python3
"""Compares Ounce with onnx.checker and ONNX Runtime on mutated small models.

usage: oracle.py --ounce PROGRAM [--random] [--seconds N | --count N] [--seed S] [--jobs N] [--keep FOLDER] [FOLDER…]

--random uses random valid networks (random_models.py) instead of mutants: Ounce must accept the models that the runtime runs.
FOLDERs contain further models to mutate. Needs onnx, onnxruntime and numpy. With --alone, which does not need them, Ounce runs
its results itself, and no other program judges them.

Requirements for every mutant and every format:
  - Ounce exits with a documented code for models: 0, 2 or 3; on failure it prints one line and writes no file.
  - Its result loads in ONNX Runtime if the source runs there, and passes onnx.checker if the source does.
  - Its result runs if the source runs, and every float output is closer to the source's than zeros are.
  - copy gives the same bytes.
  - Results written with verification load in ONNX Runtime.
Models are written with --no-verify, for speed and to find more defects. A wrong result that verification would have rejected
(weights beyond the range of a format give infinite outputs) is counted, but is not a failure unless Ounce reports it as an
internal error.
Models that only Ounce accepts (without verification it keeps unknown content) or only Ounce rejects are counted, and shown
with --strangers; they are not failures.

Mutant I of seed S is always the same; --only I tests one. Disagreements are written to --keep as models with a description of
their mutations, without the irrelevant ones. Exit 0: no disagreement.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import mutations
import random_models
import sources

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 600  # seconds after which a run counts as hanging, on a busy machine
THEIR_PATIENCE = 60  # the other programs may hang, which counts as rejecting the model
FORMATS = {
    "w8": ["--to", "w8"],
    "w8 dq": ["--to", "w8", "--decode", "dq", "--asymmetric"],
    "w4": ["--to", "w4"],
    "w4 dq": ["--to", "w4", "--decode", "dq"],
    "w4 block": ["--to", "w4", "--granularity", "block:16", "--asymmetric"],
    "codebook": ["--to", "w4", "--codebook"],
    "w16": ["--to", "w16"],
    "fp16": ["--to", "fp16"],
    "fp16 io": ["--to", "fp16", "--io", "fp16"],
    "int8-dynamic": ["--to", "int8-dynamic", "--dynamic-conv"],
    "int8": ["--to", "int8", "--no-search", "--on", "none"],
    "int8 op": ["--to", "int8", "--no-search", "--on", "none", "--dialect", "qoperator"],
    "external": ["--to", "w8", "--external-data", "always"],
}
ALWAYS = ["w8", "fp16", "int8-dynamic"]  # for every mutant; the others for some
CAUGHT = "the result fails in the runtime"
ROUGH = {"w4", "w4 dq", "w4 block", "codebook", "int8", "int8 op", "int8-dynamic"}  # mutants may lose all accuracy in these


class Judge:
    """A judge.py process that is started again when a model crashes it."""

    def __init__(self):
        self.process = None

    def start(self):
        self.process = subprocess.Popen([sys.executable, str(HERE / "judge.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, bufsize=1)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def ask(self, **request):
        if not self.process:
            self.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            ready, _, _ = select.select([self.process.stdout], [], [], THEIR_PATIENCE)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        died = "crashed" if ready else "hangs"
        self.stop()
        return {"checker": died, "runtime": died, "ran": died, "sqnr": None}


class Finding:
    def __init__(self, kind, form, text):
        self.kind, self.form, self.text = kind, form, text

    def key(self):
        """A key that is equal for findings with a common cause, judging by their texts."""
        plain = re.sub(r"'[^']*'|\"[^\"]*\"|[0-9.]+|/\S+|\([^)]*\)", "_", self.text)
        return f"{self.kind} [{self.form}] {plain[:110]}"


class Trial:
    """Runs and judges the models of a campaign."""

    def __init__(self, options, judge):
        self.options, self.judge = options, judge
        self.counts = collections.Counter()
        self.strangers = collections.Counter()

    def run(self, words, folder):
        self.counts["runs of ounce"] += 1
        environment = dict(os.environ, HOME=str(folder), XDG_CACHE_HOME=str(folder), OUNCE_ON="none")
        try:
            return subprocess.run([self.options.ounce, *words], cwd=folder, env=environment, capture_output=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired as expired:
            return subprocess.CompletedProcess(expired.cmd, "hangs", b"", b"")

    def formats(self, number):
        others = [form for form in FORMATS if form not in ALWAYS]
        if self.options.every:
            return list(FORMATS)
        if self.options.alone:  # with a run of each result
            return [ALWAYS[number % len(ALWAYS)], others[number % len(others)]]
        return ALWAYS + [others[number % len(others)], others[(number // len(others) + 3 * number + 1) % len(others)]]

    def findings(self, content, number, forms=None):
        with tempfile.TemporaryDirectory(prefix="oracle.") as folder:
            yield from self.findings_in(pathlib.Path(folder), content, number, forms)

    def findings_in(self, folder, content, number, forms):
        source = folder / "m.onnx"
        source.write_bytes(content)
        kept = folder / "kept.npz"
        theirs = {"checker": "", "runtime": "", "ran": ""}
        if not self.options.alone:
            theirs = self.judge.ask(model=str(source), keep=str(kept))
            self.counts["sources that the runtime loads"] += not theirs["runtime"]
            self.counts["sources that the checker takes"] += not theirs["checker"]
            self.counts["sources that run"] += kept.exists()
        taken = False
        for form in forms or ["copy", *self.formats(number)]:
            output = folder / "out.onnx"
            words = ["copy", "m.onnx", "-o", "out.onnx"] if form == "copy" else [
                "quantize", "m.onnx", "-o", "out.onnx", "--min-bytes", "0", "--isolate-seconds", "20", *FORMATS[form]]
            if form != "copy" and not self.options.alone and number % 8 != 0:
                words.append("--no-verify")
            if form in ("int8", "int8 op"):
                data = folder / "kept.npz.data.npz"
                if not data.exists():
                    continue
                words += ["--data", data.name]
            before = set(folder.iterdir())
            done = self.run(words, folder)
            complaint = done.stderr.decode(errors="replace")
            self.counts[f"exit {done.returncode}"] += 1
            if done.returncode not in (0, 2, 3):
                yield Finding("exit code", form, f"{done.returncode}: {complaint.strip()[-200:]}")
            elif done.returncode and (complaint.count("\n") != 1 or not complaint.startswith("ounce: ")):
                yield Finding("message", form, complaint[:200])
            new = [path for path in folder.iterdir() if path not in before]
            if done.returncode:
                if new:
                    yield Finding("left behind", form, " ".join(path.name for path in new))
                self.counts["caught by its own trial"] += CAUGHT in complaint
            else:
                taken = True
                if form == "copy" and output.read_bytes() != content:
                    yield Finding("copy", form, "other bytes")
                if form != "copy" and "--no-verify" not in words and theirs["runtime"]:
                    yield Finding("stranger", form, f"tried and written, and the source is {theirs['runtime']}")
                if form != "copy" and not self.options.alone:
                    found = list(self.compare(form, theirs, output, kept))
                    if found and self.is_caught([word for word in words if word != "--no-verify"], folder):
                        self.counts["caught by its own trial"] += 1
                    else:
                        yield from found
            for path in new:
                if path not in (kept, source):
                    path.unlink() if path.is_file() else shutil.rmtree(path)
        self.counts["taken" if taken else "refused"] += 1
        if taken and theirs["runtime"] and theirs["checker"]:
            self.counts["taken by ounce alone"] += 1
            plain = re.sub(r"\[ONNXRuntimeError\]|Load model from \S+|'[^']*'|\"[^\"]*\"|\([^)]*\)|\S*/\S*|[0-9]+", "_", theirs["runtime"])
            self.strangers[f"taken by ounce alone: {plain[:150]}"] += 1
        if not taken and not theirs["runtime"] and not self.options.alone and not theirs["checker"]:
            self.counts["refused by ounce alone"] += 1
            self.strangers["refused by ounce alone: " + re.sub(r"[0-9]+", "_", complaint.strip())[:150]] += 1

    def is_caught(self, words, folder):
        """True if verification would have rejected the result. Internal errors of Ounce count as failures nevertheless."""
        done = self.run([word if word != "out.onnx" else "tried.onnx" for word in words], folder)
        (folder / "tried.onnx").unlink(missing_ok=True)
        return done.returncode in (2, 3)

    def compare(self, form, theirs, output, kept):
        ours = self.judge.ask(model=str(output), like=str(kept) if kept.exists() else "")
        if not theirs["runtime"] and ours["runtime"] and theirs["ran"]:
            self.counts["sources that load, never run, and load no more"] += 1
        elif not theirs["runtime"] and ours["runtime"]:
            yield Finding("runtime", form, ours["runtime"])
        elif not theirs["checker"] and ours["checker"]:
            yield Finding("checker", form, ours["checker"])
        elif kept.exists() and ours["ran"]:
            yield Finding("run", form, ours["ran"])
        elif isinstance(ours["sqnr"], str):
            yield Finding("outputs", form, ours["sqnr"])
        elif ours["sqnr"] is not None:
            self.counts["outputs compared"] += 1
            if ours["sqnr"] <= 0 and form not in ROUGH:
                yield Finding("outputs", form, "further away than zeros")


class Campaign:
    def __init__(self, options):
        self.options = options
        self.sources = [sources.handmade(), *filter(None, (sources.found([folder], options.largest) for folder in options.folders))]
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.strangers = collections.Counter()
        self.known = {}
        self.next = 0
        self.end = time.monotonic() + options.seconds if options.seconds else None

    def numbers(self):
        while True:
            with self.lock:
                number, self.next = self.next, self.next + 1
            if self.options.count and number >= self.options.count or self.end and time.monotonic() > self.end:
                return
            yield number

    def seed(self, number):
        return f"{self.options.seed}/{number}"

    def model(self, number, wanted=None):
        if self.options.random:
            return random_models.network(self.seed(number)), ["a random network"], 0
        return mutations.mutant(self.seed(number), self.sources, wanted)

    def work(self):
        judge = Judge()
        try:
            for number in [self.options.only] if self.options.only is not None else self.numbers():
                self.look(Trial(self.options, judge), number)
        finally:
            judge.stop()

    def look(self, trial, number):
        content, done, steps = self.model(number)
        found = list(trial.findings(content, number))
        with self.lock:
            self.counts += trial.counts
            self.counts["mutants"] += 1
            if self.counts["mutants"] % 500 == 0:
                print(f"{self.counts['mutants']} mutants, {self.counts['disagreements']} disagreements", flush=True)
            self.strangers += trial.strangers
        for finding in found:
            with self.lock:
                self.counts["disagreements"] += 1
                first = finding.key() not in self.known
                self.known.setdefault(finding.key(), []).append(number)
            if first:
                self.report(finding, number, steps)

    def report(self, finding, number, steps):
        """Removes irrelevant mutations, and prints the others."""
        quiet = Trial(self.options, Judge())
        wanted = list(range(-1, steps))
        for step in range(-1, steps) if steps else ():
            fewer = [one for one in wanted if one != step]
            content, _, _ = self.model(number, fewer)
            if any(f.kind == finding.kind and f.form == finding.form for f in quiet.findings(content, number, [finding.form])):
                wanted = fewer
        quiet.judge.stop()
        content, done, _ = self.model(number, wanted)
        with self.lock:
            print(f"{number}: {finding.kind} [{finding.form}] {finding.text}\n    {'; '.join(done)}", flush=True)
        if self.options.keep:
            self.options.keep.mkdir(parents=True, exist_ok=True)
            name = f"{number}.{finding.kind}.{finding.form}".replace(" ", "_")
            (self.options.keep / f"{name}.onnx").write_bytes(content)
            (self.options.keep / f"{name}.txt").write_text(f"{finding.text}\n" + "\n".join(done) + "\n")

    def go(self):
        what = "random networks" if self.options.random else f"{sum(map(len, self.sources))} models to mutate"
        print(f"{what}, seed {self.options.seed}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for one in [pool.submit(self.work) for _ in range(self.options.jobs if self.options.only is None else 1)]:
                one.result()
        for name in sorted(self.counts):
            print(f"{self.counts[name]:8} {name}")
        for key, numbers in sorted(self.known.items(), key=lambda item: -len(item[1])):
            print(f"{len(numbers):8} × {key}  (such as {numbers[0]})")
        if self.options.strangers:
            for key, count in self.strangers.most_common(30):
                print(f"{count:8} {key}")
        return 1 if self.known else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--largest", type=int, default=20000, help="bytes of a model from a FOLDER")
    parser.add_argument("--every", action="store_true", help="every format for every mutant")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--strangers", action="store_true")
    parser.add_argument("--random", action="store_true", help="random valid networks instead of mutants")
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    if not options.seconds and not options.count and options.only is None:
        options.count = 1000
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))  # judges end when their pipe closes
    return Campaign(options).go()


if __name__ == "__main__":
    sys.exit(main())
