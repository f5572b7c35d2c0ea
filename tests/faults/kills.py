#!/usr/bin/env python3
"""Kill Ounce at random moments: an existing output stays whole, and the next run succeeds and cleans up.

usage: kills.py --ounce PROGRAM --models FOLDER --example FOLDER [--verb VERB …] [--count N] [--seed S]

Every verb that writes runs over an older result and is killed (SIGKILL) after a random share of its duration. Then
  - the output, and every file next to it, must be the old one or the complete new one,
  - the source must be unchanged,
  - the same command must succeed at once,
  - after it only its results may be left: no hidden file and no temporary folder.
SIGTERM must end each verb within seconds, without leaving any file.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 600  # seconds after which a run counts as hanging, on a busy machine

SOUND = ["--rescale", "1/32768"]
CALIBRATION = ["--data", "in/commands_calib.npz", *SOUND]
COMMANDS = ["commands.onnx", "commands_calib.npz", "commands_val.npz"]
# The files that a verb needs, and its arguments. {to} is a format, which differs for the older result.
VERBS = {
    "quantize": (COMMANDS, ["quantize", "in/commands.onnx", "-o", "out/model.onnx", "--to", "{to}"]),
    "external": (["external.onnx", "external.data"],
                 ["quantize", "in/external.onnx", "-o", "out/model.onnx", "--external-data", "always", "--min-bytes", "16", "--to", "{to}"]),
    "static": (COMMANDS, ["quantize", "in/commands.onnx", "-o", "out/model.onnx", "--to", "int8", "--no-search", "--on", "none",
                          "--activations", "{activations}", *CALIBRATION]),
    "publish": (COMMANDS, ["publish", "in/commands.onnx", "-o", "out/model", "--variants", "{variants}", "--replace"]),
    "unpack": (COMMANDS, ["unpack", "in/commands.onnx", "--cache", "out"]),
    "tune": (COMMANDS, ["tune", "in/commands.onnx", "-o", "out/model.onnx", "--budget", "3 models", "--samples", "64",
                        "--min-sqnr", "15", "--confidence", "none", *SOUND, "--data", "in/commands_val.npz"]),
}
OLDER = {"to": "w16", "activations": "u8", "variants": "fp16"}
NEWER = {"to": "w8", "activations": "s8", "variants": "q8"}


def contents(folder):
    """Every file below a folder, by name: its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Scene:
    def __init__(self, options, verb, root):
        self.options, self.verb, self.root = options, verb, root
        files, self.words = VERBS[verb]
        for name in ("in", "out", "tmp", "home"):
            (root / name).mkdir()
        for name in files:
            found = next(folder / name for folder in (options.example, options.models) if (folder / name).exists())
            shutil.copy(found, root / "in" / name)
        self.source = contents(root / "in")
        self.old, _ = self.whole(OLDER)
        if verb == "tune":  # a search of the same model finds the same one
            self.old = {"model.onnx": (root / "in" / "commands.onnx").read_bytes()}
        self.new, self.seconds = self.whole(NEWER)
        if verb != "unpack" and self.old == self.new:
            raise SystemExit(f"{verb}: the older and the newer result are equal, so the test would detect nothing")

    def start(self, choice):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.root / "home"), "TMPDIR": str(self.root / "tmp")}
        words = [word.format(**choice) for word in self.words]
        return subprocess.Popen([self.options.ounce, *words], cwd=self.root, env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def whole(self, choice):
        """The result of an undisturbed run, and its duration."""
        self.restore({})
        start = time.monotonic()
        process = self.start(choice)
        _, said = process.communicate(timeout=PATIENCE)
        if process.returncode != 0:
            raise SystemExit(f"{self.verb}: exit {process.returncode}: {said}")
        return contents(self.root / "out"), time.monotonic() - start

    def restore(self, files):
        for name in ("out", "tmp", "home"):
            shutil.rmtree(self.root / name)
            (self.root / name).mkdir()
        for name, data in files.items():
            path = self.root / "out" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def shown(self):
        """The visible files; hidden leftovers are checked after the next run."""
        return {name: data for name, data in contents(self.root / "out").items() if not name.startswith(".") and "/." not in name}

    def after(self, moment, number):
        """Kills a run after `moment` seconds, and yields the violations."""
        self.restore(self.old)
        process = self.start(NEWER)
        try:
            process.communicate(timeout=moment)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, number)
        start = time.monotonic()
        process.communicate(timeout=PATIENCE)
        ended = time.monotonic() - start
        if contents(self.root / "in") != self.source:
            yield "the source was changed"
        if self.verb == "publish" or len(self.old) > 1:
            yield from self.torn(self.shown())
        elif self.shown() not in (self.old, self.new) and not self.is_complete(self.shown()):
            yield f"the output is neither the old nor the new one: {sorted(self.shown())}"
        if number == signal.SIGTERM:
            left = [path.name for path in (self.root / "tmp").iterdir()]
            hidden = [name for name in contents(self.root / "out") if name not in self.shown()]
            if left or hidden:
                yield f"SIGTERM left {left + hidden}"
            if ended > PATIENCE / 4:
                yield f"SIGTERM took {ended:.0f} s"
        again = self.start(NEWER)
        _, said = again.communicate(timeout=PATIENCE)
        if again.returncode != 0:
            yield f"the next run ends with {again.returncode}: {said.strip()}"
            return
        left = [path.name for path in (self.root / "tmp").iterdir()]
        hidden = [name for name in contents(self.root / "out") if name not in self.shown()]
        if left or hidden:
            yield f"left behind after the next run: {left + hidden}"
        missing = set(self.new) - set(self.shown())
        if missing:
            yield f"the next run does not write {sorted(missing)}"

    def is_complete(self, files):
        """tune may have written an intermediate best model: then every file of it must load."""
        if self.verb != "tune" or not files:
            return False
        return all(
            subprocess.run([self.options.ounce, "inspect", name], cwd=self.root / "out", capture_output=True).returncode == 0
            for name in files if name.endswith(".onnx"))

    def torn(self, shown):
        for name, data in shown.items():
            if name.endswith("README.md"):  # has measured times, which differ between runs
                if not data.endswith(b"\n"):
                    yield f"{name} is torn"
            elif data not in (self.old.get(name), self.new.get(name)):
                yield f"{name} is neither the old nor the new one"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--example", required=True, type=pathlib.Path)
    parser.add_argument("--verb", action="append", choices=list(VERBS))
    parser.add_argument("--count", type=int, default=25, help="number of kills per verb")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    draw, failures = random.Random(options.seed), 0
    for verb in options.verb or VERBS:
        with tempfile.TemporaryDirectory(prefix="kills.") as folder:
            scene = Scene(options, verb, pathlib.Path(folder))
            for i in range(options.count):
                number = signal.SIGTERM if i % 4 == 3 else signal.SIGKILL
                moment = draw.random() * scene.seconds
                for problem in scene.after(moment, number):
                    failures += 1
                    print(f"{verb}: {number.name} after {moment:.2f} of {scene.seconds:.2f} s: {problem}", flush=True)
            print(f"{verb}: {options.count} kills", flush=True)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
