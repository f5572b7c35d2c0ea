#!/usr/bin/env python3
"""Tests that outputs are written atomically: after any fault the output is the old result or the complete new one.

usage: faults_test.py --ounce PROGRAM --shim LIBRARY --models FOLDER [unittest arguments]

`ounce quantize` runs over an older result. For each system call there is one run in which the shim (fault_shim.cpp) makes it
fail, one in which it kills the process before the call, and one after it.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import shim

OUNCE = SHIM = MODELS = None
CALLS = ["open_tmpfile", "fallocate", "ftruncate", "pwrite", "fsync", "linkat", "rename", "unlink"]
ERRORS = {
    "open_tmpfile": ["EACCES", "ENOSPC"],
    "fallocate": ["ENOSPC", "EIO"],
    "ftruncate": ["EIO"],
    "pwrite": ["ENOSPC", "EIO"],
    "fsync": ["EIO"],
    "linkat": ["EIO"],
    "rename": ["EACCES"],
}
NO_TMPFILE = "open_tmpfile"
NO_FALLOCATE = "open_tmpfile,fallocate"


def run(folder, arguments, more=None, **faults):
    """Runs ounce with the shim; the faults are the shim's variables, in lower case."""
    environment = {"PATH": "/usr/bin:/bin", **shim.variables(SHIM, **faults), **(more or {})}
    return subprocess.run([OUNCE, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Scene:
    """A model `in/model.onnx` and its quantized files, the older (`old`) and the newer (`new`) ones, as name → bytes."""

    def __init__(self, root, old_options, new_options, refuse=""):
        self.root, self.refuse = root, refuse
        self.command = ["quantize", "in/model.onnx", "-o", "out/model.onnx", "--threads", "2", "--no-verify"]
        self.arguments = [*self.command, *new_options]
        (root / "in").mkdir()
        shutil.copy(MODELS / "external.onnx", root / "in" / "model.onnx")
        shutil.copy(MODELS / "external.data", root / "in" / "external.data")
        self.source = contents(root / "in")
        self.old = {} if old_options is None else self.results_of(old_options, [])
        self.new = self.results_of(new_options, self.old)
        self.counts = self.count_calls()

    def results_of(self, options, before):
        self.restore(before)
        done = run(self.root, [*self.command, *options])
        assert done.returncode == 0, done.stderr
        return contents(self.root / "out")

    def restore(self, files=None):
        """Restores the older result in the folder."""
        out = self.root / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        for name, data in (self.old if files is None else dict(files)).items():
            (out / name).write_bytes(data)

    def count_calls(self):
        self.restore()
        done = run(self.root, self.arguments, counts="counts", refuse=self.refuse)
        assert done.returncode == 0, done.stderr
        return shim.read_counts(self.root / "counts")[1]["program"]

    def attempt(self, call, at, do, **more):
        self.restore()
        return run(self.root, self.arguments, refuse=self.refuse, call=call, at=at, do=do, **more)


@contextlib.contextmanager
def scene(*arguments):
    with tempfile.TemporaryDirectory(prefix="ounce-faults-") as name:
        yield Scene(pathlib.Path(name), *arguments)


class Promise(unittest.TestCase):
    maxDiff = None

    def assert_whole(self, scene, may_leave_others, is_source_intact=True):
        """Checks that the result is the complete old or new one; returns which."""
        seen = contents(scene.root / "out")
        state = "new" if seen.get("model.onnx") == scene.new["model.onnx"] else "old"
        wanted = scene.new if state == "new" else scene.old
        missing = {name for name, data in wanted.items() if seen.get(name) != data}
        self.assertEqual(missing, set(), f"{state} result is incomplete")
        if wanted:
            inspected = run(scene.root, ["inspect", "out/model.onnx"])
            self.assertEqual(inspected.returncode, 0, inspected.stderr)
        others = {name: data for name, data in seen.items() if name not in wanted}
        if not may_leave_others:
            self.assertEqual(set(others), set(), "files are left")
        for name, data in others.items():  # a killed process may leave hidden files, and data files that no model uses
            self.assertTrue(name.startswith(".") or data in (*scene.old.values(), *scene.new.values()), f"{name} is a partial file")
        if is_source_intact:
            self.assertEqual(contents(scene.root / "in"), scene.source, "the model was changed")
        return state

    def every_call(self, scene):
        for call in CALLS:
            for at in range(1, scene.counts[call] + 1):
                yield call, at


EXTERNAL = ["--external-data", "always"]
# All ways of writing files: options of the older result (None: no older result), of the new one, unavailable calls.
WAYS = {
    "inline": (["--to", "w16"], []),
    "first": (None, []),
    "external": (["--to", "w16", *EXTERNAL], EXTERNAL),
    "external_first": (None, EXTERNAL),
    "external_again": (EXTERNAL, EXTERNAL),  # the data keeps its name
    "inline_over_external": (EXTERNAL, []),
    "without_tmpfile": (["--to", "w16"], [], NO_TMPFILE),
    "without_fallocate": (["--to", "w16"], [], NO_FALLOCATE),
    "external_without_tmpfile": (["--to", "w16", *EXTERNAL], EXTERNAL, NO_TMPFILE),
}


def for_every_way(test):
    """Makes a test for each of the ways from a class's check(self, *way)."""
    for name, way in WAYS.items():
        setattr(test, f"test_{name}", lambda self, way=way: self.check(*way))
    return test


@for_every_way
class Killed(Promise):
    def check(self, *arguments):
        with scene(*arguments) as stage:
            for call, at in self.every_call(stage):
                for do in ("kill-before", "kill-after"):
                    with self.subTest(call=call, at=at, do=do):
                        done = stage.attempt(call, at, do)
                        self.assertEqual(done.returncode, -signal.SIGKILL)
                        self.assert_whole(stage, may_leave_others=True)


@for_every_way
class Leftovers(Promise):
    """The run after a killed one removes its leftovers, and no other files."""

    def check(self, *arguments):
        with scene(*arguments) as stage:
            left = 0
            for call, at in self.every_call(stage):
                with self.subTest(call=call, at=at):
                    stage.attempt(call, at, "kill-after")
                    out = stage.root / "out"
                    hidden = {path.name for path in out.iterdir() if path.name.startswith(".")}
                    for name in hidden:
                        self.assertRegex(name, r"\A\..+\.ounce-[0-9a-f]{16}\.part\Z")
                    left += len(hidden)
                    others = [out / ".model.onnx.4711.part", out / ".model.onnx.part"]
                    for path in others:
                        path.write_bytes(b"of another program")
                    done = run(stage.root, stage.arguments, refuse=stage.refuse)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual({path.name for path in out.iterdir() if path.name.startswith(".")},
                                     {path.name for path in others})
            self.assertGreater(left, 0, "no kill left anything to remove")


class LeftoverFolders(unittest.TestCase):
    def test_publish(self):
        """A killed publish leaves its hidden folder and temporary folders; the next one removes all of them."""
        with tempfile.TemporaryDirectory(prefix="ounce-faults-") as name:
            root = pathlib.Path(name)
            (root / "tmp").mkdir()
            shutil.copy(MODELS / "matmul.onnx", root / "matmul.onnx")
            command = ["publish", "matmul.onnx", "-o", "pub", "--layout", "plain", "--variants", "q8", "--no-bench", "--replace"]
            environment = {"TMPDIR": str(root / "tmp")}
            for faults in ({}, {"counts": "counts"}):  # the second run replaces a folder, like the killed ones
                done = run(root, command, environment, **faults)
                self.assertEqual(done.returncode, 0, done.stderr)
            published = {path.relative_to(root) for path in (root / "pub").rglob("*")}
            renames = shim.read_counts(root / "counts")[1]["program"]["rename"]
            self.assertGreater(renames, 0)
            for at in range(1, renames + 1):
                done = run(root, command, environment, call="rename", at=at, do="kill-before")
                self.assertEqual(done.returncode, -signal.SIGKILL)
                self.assertEqual({path.relative_to(root) for path in (root / "pub").rglob("*")}, published)
            self.assertTrue([path for path in root.iterdir() if path.name.startswith(".pub.ounce-")])
            done = run(root, command, environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual({path.name for path in root.iterdir()}, {"tmp", "matmul.onnx", "pub", "counts"})
            self.assertEqual(list((root / "tmp").iterdir()), [])
            self.assertEqual({path.relative_to(root) for path in (root / "pub").rglob("*")}, published)


class Together(Promise):
    """Several processes write one output: at any time it is the complete result of one of them."""

    COUNT = 6

    def check(self, refuse, before=()):
        with scene(["--to", "w16"], [], refuse) as stage:
            out = stage.root / "out"
            whole = (stage.old["model.onnx"], stage.new["model.onnx"])
            environment = {"PATH": "/usr/bin:/bin", **shim.variables(SHIM, refuse=refuse)}
            for _ in range(3):
                stage.restore({})
                ways = [["--to", "w16"], []] * (self.COUNT // 2)
                running = [subprocess.Popen([*before, OUNCE, *stage.command, *way], cwd=stage.root, env=environment,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for way in ways]
                for process in running:
                    said = process.communicate(timeout=120)[1]
                    self.assertEqual(process.returncode, 0, said)
                    self.assertIn((out / "model.onnx").read_bytes(), whole)
                self.assertEqual([path.name for path in out.iterdir()], ["model.onnx"])

    def test_processes(self):
        self.check("")

    def test_processes_without_tmpfile(self):
        self.check(NO_TMPFILE)

    def test_containers_without_tmpfile(self):
        """Each is process 1 of its own PID namespace, as in containers that share a folder."""
        inside = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--fork", "--pid", "--mount-proc"]
        if shutil.which("unshare") is None or subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
            self.skipTest("PID namespaces are not available")
        self.check(NO_TMPFILE, [*inside, "--"])


@for_every_way
class Failing(Promise):
    def check(self, *arguments):
        with scene(*arguments) as stage:
            for call, at in self.every_call(stage):
                for do in ERRORS.get(call, []):
                    with self.subTest(call=call, at=at, do=do):
                        done = stage.attempt(call, at, do)
                        self.assertEqual(done.returncode, 4, done.stderr)
                        self.assertEqual(done.stdout, "")
                        self.assertRegex(done.stderr, r"\Aounce: [^\n]+\n\Z")
                        seen = contents(stage.root / "out")
                        # If only the last flush of the folder fails, the new model is complete. The old data file remains,
                        # because the disk may still have the old name.
                        is_replaced = seen.get("model.onnx") == stage.new["model.onnx"] != stage.old.get("model.onnx")
                        self.assert_whole(stage, may_leave_others=is_replaced)


class Harmless(Promise):
    def check(self, do, call="pwrite"):
        """Short and interrupted writes are not failures."""
        with scene(*WAYS["external"]) as stage:
            self.assertGreater(stage.counts[call], 0)
            for at in range(1, stage.counts[call] + 1):
                with self.subTest(at=at):
                    done = stage.attempt(call, at, do)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(self.assert_whole(stage, may_leave_others=False), "new")

    def test_short_writes(self):
        self.check("short")

    def test_interrupted_writes(self):
        self.check("EINTR")


class Stopped(Promise):
    def stopped_anywhere(self, do, refuse=""):
        """A signal in time: exit 130, one line, no files. A late signal: the complete result."""
        with scene(["--to", "w16"], [], refuse) as stage:
            codes = []
            for call, at in self.every_call(stage):
                with self.subTest(call=call, at=at):
                    done = stage.attempt(call, at, do)
                    codes.append(done.returncode)
                    state = self.assert_whole(stage, may_leave_others=False)
                    self.assertEqual((done.returncode, state), (130, "old") if done.returncode else (0, "new"))
                    self.assertEqual(done.stderr, "ounce: stopped; nothing was written [OUN005]\n" if done.returncode else "")
                    if call == "pwrite":  # long before the end
                        self.assertEqual(done.returncode, 130)
            self.assertIn(130, codes)

    def test_sigterm(self):
        self.stopped_anywhere("term")

    def test_sigint(self):
        self.stopped_anywhere("int")

    def test_sigterm_without_tmpfile(self):
        self.stopped_anywhere("term", NO_TMPFILE)

    def shrinking(self, file, refuse=""):
        with scene(["--to", "w16"], [], refuse) as stage:
            done = stage.attempt("pwrite", 1, "truncate", file=stage.root / "in" / file)
            self.assertEqual(done.returncode, 4)
            self.assertEqual(done.stderr, "ounce: a model file was truncated while it was read; nothing was written\n")
            self.assertEqual(done.stdout, "")
            # The signal handler ends the process at once, so files that are already named remain, as after a kill.
            self.assertEqual(self.assert_whole(stage, may_leave_others=refuse != "", is_source_intact=False), "old")

    def test_model_that_shrinks_while_it_is_read(self):
        self.shrinking("external.data")

    def test_model_that_shrinks_while_it_is_read_without_tmpfile(self):
        self.shrinking("external.data", NO_TMPFILE)


def main():
    global OUNCE, SHIM, MODELS
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("ounce", "shim", "models"):
        parser.add_argument("--" + name, required=True, type=lambda path: pathlib.Path(path).resolve())
    known, others = parser.parse_known_args()
    OUNCE, SHIM, MODELS = known.ounce, known.shim, known.models
    unittest.main(argv=[sys.argv[0], *others])


if __name__ == "__main__":
    main()
