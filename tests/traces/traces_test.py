#!/usr/bin/env python3
"""Checks with strace that each verb writes only the requested files and does not use a network.

usage: traces_test.py --ounce PROGRAM --models FOLDER [--runtime LIBRARY]… [unittest arguments]

Every verb runs in its own folder, once for each ONNX Runtime, with an empty home, an empty folder for temporary files and an
empty cache. The test checks all system calls that create, open for writing, rename or remove a file and all that open a
socket. Allowed are the outputs that the test names (and the temporary hidden name of an output), a temporary folder of Ounce
that is removed at the end, and the cache.
"""

import argparse
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

OUNCE = MODELS = None
RUNTIMES = []
SKIPPED = 77

CALLS = ("open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
         "unlink,unlinkat,rmdir,truncate,chdir,socket,connect,execve,fsync,fdatasync")

GIVEN = ["signal.onnx", "agreed.onnx", "signal.npz", "signal.ranges", "small.onnx"]

# A verb, its arguments, and the names that it may write; `cache` if it keeps measurements.
DATA = ["--data", "signal.npz"]
VERBS = [
    ("inspect", ["signal.onnx"], []),
    ("quantize", ["signal.onnx", "-o", "out.onnx", "--min-bytes", "64"], ["out.onnx"]),
    ("quantize", ["signal.onnx", "-o", "out.onnx", "--to", "int8", "--on", "auto", *DATA], ["out.onnx"]),
    ("quantize", ["signal.onnx", "-o", "out.onnx", "--to", "fp16", "--emit", "ort"],
     ["out.onnx", "out.ort", "out.required_operators.config"]),
    ("calibrate", ["signal.onnx", "-o", "out.ranges", *DATA], ["out.ranges"]),
    ("calibrate", ["merge", "signal.ranges", "-o", "out.ranges"], ["out.ranges"]),
    ("verify", ["signal.onnx", "signal.onnx", *DATA], []),
    ("verify", ["signal.onnx", "signal.onnx", "--report", "out.html", *DATA], ["out.html"]),
    ("diff", ["signal.onnx", "signal.onnx", "--report", "out.html"], ["out.html"]),
    ("bench", ["signal.onnx", "-t", "0.1", "--cold-starts", "1"], []),
    ("sensitivity", ["signal.onnx", *DATA], ["cache"]),
    ("tune", ["signal.onnx", "-o", "out.onnx", "--budget", "3 models", "--on", "none", *DATA],
     ["out.onnx", "out.closest.onnx", "cache"]),
    ("advise", ["signal.onnx", "--budget", "2s", *DATA], []),
    ("check", ["signal.onnx", "--target", "linux-x64@1.22.0", "--required-ops", "out.config"], ["out.config"]),
    ("contract", ["set", "signal.onnx", "-o", "out.onnx", "--rescale", "2", *DATA], ["out.onnx"]),
    ("contract", ["show", "agreed.onnx"], []),
    ("contract", ["check", "agreed.onnx", *DATA], []),
    ("copy", ["signal.onnx", "-o", "out.onnx"], ["out.onnx"]),
    ("publish", ["signal.onnx", "-o", "out", "--variants", "fp32,fp16", "--seconds", "0.05", *DATA],
     ["out", "out/onnx/signal.onnx", "out/onnx/signal_fp16.onnx", "out/quantize_config.json", "out/README.md"]),
    ("prove", ["small.onnx", "--source", "signal.onnx"], []),
    ("unpack", ["small.onnx", "--cache", "."], ["*.ort"]),
    ("copy", ["signal.onnx", "-o", "out.onnx", "--emit", "ort"], ["out.onnx", "out.ort", "out.required_operators.config"]),
]


class Traced:
    """One run, and its strace output."""

    def __init__(self, root, verb, words, runtime):
        self.root = root
        self.work, self.home, self.temporary, self.cache = (root / name for name in ("work", "home", "tmp", "cache"))
        for folder in (self.work, self.home, self.temporary, self.cache):
            folder.mkdir()
        for name in GIVEN:
            shutil.copy(MODELS / name, self.work)
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(self.home), "TMPDIR": str(self.temporary),
                       "XDG_CACHE_HOME": str(self.cache), "OUNCE_ONNXRUNTIME": str(runtime)}
        trace = root / "trace"
        done = subprocess.run(["strace", "-f", "-y", "--seccomp-bpf", "-s", "4096", "-e", f"trace={CALLS}", "-o", trace, OUNCE, verb, *words],
                              cwd=self.work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        self.code, self.said = done.returncode, done.stderr
        self.lines = list(whole_lines(trace.read_text(errors="backslashreplace").splitlines()))

    def left(self):
        """The new files in the folders."""
        found = set()
        for folder in (self.work, self.home, self.temporary, self.cache):
            found |= {path for path in folder.rglob("*") if not path.is_dir()}
            found |= {path for path in folder.rglob("*") if path.is_dir() and not any(path.iterdir())}
        return {str(path.relative_to(self.root)) for path in found} - {f"work/{name}" for name in GIVEN}

    def touched(self):
        """(call, path) of each file that was created, opened for writing, renamed or removed."""
        folder = self.work
        for line in self.lines:
            if match := re.match(r"(?:\d+ +)?(\w+)\((.*)\) += (-?\d+|\?)", line):
                call, arguments, result = match.groups()
                if result.startswith("-") or call in ("socket", "connect", "execve", "fsync", "fdatasync"):
                    continue
                if call == "chdir":
                    (folder,) = paths_of(call, arguments, folder)
                    continue
                if call.startswith("open") and not re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE|O_TRUNC", arguments):
                    continue
                for path in paths_of(call, arguments, folder):
                    yield call, path

    def opened(self, name):
        """Counts how often the program itself opened a file; the runtime reads models in runners."""
        runners = {line.split(" ", 1)[0] for line in self.lines if re.search(r"execve\(.*ounce-runner", line)}
        return sum(1 for line in self.lines if re.search(r"\bopen(at2?)?\(.*\) += \d+<" + re.escape(str(self.work / name)) + ">", line)
                   and line.split(" ", 1)[0] not in runners)

    def flushed(self):
        return [line for line in self.lines if re.search(r"\b(fsync|fdatasync)\(", line)]

    def sockets(self):
        return [line for line in self.lines if re.search(r"\b(socket|connect)\(", line) and "AF_UNIX" not in line]


def whole_lines(lines):
    """Joins the two lines of a call that another process interrupts."""
    begun = {}
    for line in lines:
        process = line.split(" ", 1)[0]
        if line.endswith("<unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>").rstrip()
        elif match := re.match(r"\d+ +<\.\.\. \w+ resumed>(.*)", line):
            yield begun.pop(process, "") + match.group(1)
        else:
            yield line


def paths_of(call, arguments, here):
    """The paths in the arguments, made absolute with the folder that precedes them."""
    folder = str(here)
    for match in re.finditer(r'(?:AT_FDCWD|\d+)<([^>]*)>|AT_FDCWD|"((?:[^"\\]|\\.)*)"', arguments):
        at, name = match.groups()
        if at is not None:
            folder = at
        elif name is not None:
            yield pathlib.Path(os.path.normpath(os.path.join(folder, name)))
            if call.startswith("open"):
                return
            if call.startswith("symlink"):
                folder = str(here)


def is_among(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


class Traces(unittest.TestCase):
    maxDiff = None

    def is_allowed(self, path, run, outputs):
        if path.parent == run.work:
            own = re.fullmatch(r"\.(.+)\.ounce-[0-9a-f]{16}\.part", path.name)
            return is_among(own.group(1) if own else path.name, outputs)
        if path.parts[len(run.work.parts):] and re.fullmatch(r"\.out\.ounce-[0-9a-f]{16}\.part", path.parts[len(run.work.parts)]):
            return "out" in outputs  # a folder that is renamed at the end
        if path == run.work or path == pathlib.Path("/dev/null") or path.parts[:2] == ("/", "proc"):
            return True  # O_TMPFILE, /dev/null, and an unnamed file of the process
        if run.temporary in path.parents and path.relative_to(run.temporary).parts[0].startswith("ounce-"):
            return True
        return "cache" in outputs and (path == run.cache / "ounce" or path.parent == run.cache / "ounce")

    def check(self, verb, words, outputs, runtime):
        with tempfile.TemporaryDirectory(prefix="traces-") as name:
            run = Traced(pathlib.Path(name).resolve(), verb, words, runtime)
            self.assertIn(run.code, (0, 1), run.said)
            self.assertTrue(run.lines, "strace saw nothing")
            wanted = [f"work/{output}" for output in outputs if output != "cache"]
            left = {path for path in run.left() if not ("cache" in outputs and path.startswith("cache/ounce/"))}
            self.assertEqual({path for path in left if not is_among(path, wanted)}, set(), "left behind")
            foreign = {f"{call} {path}" for call, path in run.touched() if not self.is_allowed(path, run, outputs)}
            self.assertEqual(foreign, set(), "written meanwhile")
            self.assertEqual(run.sockets(), [], "sockets were opened")

    def test_every_verb_with_every_runtime(self):
        for runtime in RUNTIMES:
            for verb, words, outputs in VERBS:
                with self.subTest(runtime=runtime, command=" ".join([verb, *words])):
                    self.check(verb, words, outputs, runtime)

    def test_quantize_parses_its_source_once_and_flushes_its_output_alone(self):
        # The first open detects the file format. Static formats read the file once more for its preprocessing metadata, and
        # once for each pass over the data.
        for words, most in (([], 2), (["--to", "w4"], 4), (["--to", "int8", "--no-search", *DATA], 6)):
            with self.subTest(words=words), tempfile.TemporaryDirectory(prefix="traces-") as name:
                run = Traced(pathlib.Path(name).resolve(), "quantize",
                             ["signal.onnx", "-o", "out.onnx", "--min-bytes", "64", *words], RUNTIMES[0])
                self.assertEqual(run.code, 0, run.said)
                self.assertLessEqual(run.opened("signal.onnx"), most)
                self.assertEqual(len(run.flushed()), 2, "the file and its folder")

    def test_demo(self):
        with self.subTest(runtime=RUNTIMES[0]):
            self.check("demo", [], [], RUNTIMES[0])


def can_trace():
    try:
        return subprocess.run(["strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def main():
    global OUNCE, MODELS, RUNTIMES
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("ounce", "models"):
        parser.add_argument("--" + name, required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--runtime", action="append", default=[])
    known, others = parser.parse_known_args()
    OUNCE, MODELS, RUNTIMES = known.ounce, known.models, known.runtime
    if not can_trace() or not RUNTIMES:
        print("skipped: strace is missing or not permitted, or ONNX Runtime is missing")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="traces-") as name:
        for given in ("signal.onnx", "signal.npz"):
            shutil.copy(MODELS / given, name)
        MODELS = pathlib.Path(name)
        for words in (["contract", "set", "signal.onnx", "-o", "agreed.onnx", "--rescale", "2"], ["calibrate", "signal.onnx", *DATA],
                      ["quantize", "signal.onnx", "-o", "small.onnx", "--min-bytes", "64"]):
            subprocess.run([OUNCE, *words], cwd=name, stdout=subprocess.DEVNULL, check=True)
        return 0 if unittest.main(argv=[sys.argv[0], *others], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
