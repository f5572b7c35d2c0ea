"""Tests models that never end: every verb must end by its time limit or at the first signal, and its runner with it.

endless.onnx has a Loop of 2^62 iterations; laughs.onnx has functions that expand to 2^30 nodes when a session is created.
The time limits in this test suit a machine with ten times the load; they measure nothing.
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 60  # seconds after which a run counts as hanging
OUNCE = None

# The commands for each model. They have time limits of seconds.
VERBS = {
    "calibrate": ["calibrate", "{model}", "--data", "{data}", "-o", "out.ranges"],
    "static": ["quantize", "{model}", "--to", "int8", "--data", "{data}", "-o", "out.onnx", "--min-bytes", "0"],
    "w8": ["quantize", "{model}", "--to", "w8", "--data", "{data}", "-o", "out.onnx", "--min-bytes", "0"],
    "fp16": ["quantize", "{model}", "--to", "fp16", "--data", "{data}", "-o", "out.onnx"],
    "verify": ["verify", "{model}", "{model}", "--data", "{data}"],
    "bench": ["bench", "{model}", "--data", "{data}"],
    "tune": ["tune", "{model}", "--data", "{data}", "-o", "out.onnx", "--budget", "100s", "--no-cache"],
    "sensitivity": ["sensitivity", "{model}", "--data", "{data}", "--no-cache"],
    "advise": ["advise", "{model}", "--data", "{data}", "--budget", "100s"],
}
# Commands that load the model with the default limit.
LOADING = {
    "emit": ["copy", "{model}", "-o", "out.onnx", "--emit", "ort"],
    "required ops": ["check", "{model}", "--required-ops", "out.config"],
}
MODELS = {"endless": "flow.npz", "laughs": "x16.npz"}


def command(verb, model):
    words = (VERBS | LOADING)[verb]
    return [str(OUNCE)] + [word.format(model=f"{model}.onnx", data=MODELS[model]) for word in words]


def children_of(process):
    """Ids of its running child processes."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"\nPPid:\t{process}\n" in (entry / "status").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def is_alive(process):
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


class Hangs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name in [f"{model}.onnx" for model in MODELS] + list(MODELS.values()):
            shutil.copy(HERE / name, self.folder)
        self.before = sorted(self.folder.iterdir())

    def start(self, words):
        environment = dict(os.environ, HOME=str(self.folder), TMPDIR=str(self.folder), XDG_CACHE_HOME=str(self.folder))
        return subprocess.Popen(words, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def assert_nothing_left(self):
        self.assertEqual(sorted(self.folder.iterdir()), self.before)


class Limits(Hangs):
    """The time limit of a run is enforced, and reported."""

    def test_every_verb(self):
        for model in MODELS:
            for verb in VERBS:
                with self.subTest(model=model, verb=verb):
                    process = self.start(command(verb, model) + ["--isolate-seconds", "1"])
                    out, err = process.communicate(timeout=PATIENCE)
                    self.assertIn(process.returncode, (2, 3), err + out)
                    self.assertIn("took longer than", err)
                    self.assertEqual(err.count("\n"), 1, err)
                    self.assert_nothing_left()


class Signals(Hangs):
    """The first signal ends the verb while an endless model runs."""

    def ended_by(self, which, model, verb):
        process = self.start(command(verb, model) + ([] if verb in LOADING else ["--isolate-seconds", "0"]))
        end = time.monotonic() + PATIENCE
        runners = []
        while not runners and process.poll() is None and time.monotonic() < end:
            runners = children_of(process.pid)
            time.sleep(0.05)
        self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
        self.assertTrue(runners, "no runner was started")
        time.sleep(0.3)  # it runs or loads now: both must end
        process.send_signal(which)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, err + out)
        for runner in runners:
            self.assertFalse(is_alive(runner))
        if verb == "emit":  # the output was complete before the signal
            (self.folder / "out.onnx").unlink()
        self.assert_nothing_left()

    def test_interrupt(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                self.ended_by(signal.SIGINT, "endless", verb)

    def test_terminate_while_loading(self):
        for verb in ("calibrate", "verify", "bench", "tune", *LOADING):
            with self.subTest(verb=verb):
                self.ended_by(signal.SIGTERM, "laughs", verb)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    options, others = parser.parse_known_args()
    OUNCE = options.ounce
    unittest.main(argv=[sys.argv[0], *others])
