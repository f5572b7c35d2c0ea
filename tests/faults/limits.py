#!/usr/bin/env python3
"""Run Ounce with limited resources: few file descriptors, little memory, full disks, closed outputs, no HOME.

usage: limits.py --ounce PROGRAM --models FOLDER --example FOLDER [--quick]

Every run must succeed, or end with the documented exit code for a failing machine (4, or 2 and 3 if a runner lacks memory) and
one line on standard error. No signal may end it, no output may be partial, and no file may be left. The tests of full disks
need the right to mount a tmpfs (root); without it they are skipped, and the last line says so.
"""

import argparse
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

PATIENCE = 600
SOUND = ["--rescale", "1/32768"]
STATIC = ["quantize", "in/commands.onnx", "-o", "out/model.onnx", "--to", "int8", "--no-search", "--on", "none", "--data",
          "in/commands_calib.npz", *SOUND]
VERBS = {
    "quantize": ["quantize", "in/commands.onnx", "-o", "out/model.onnx"],
    "static": STATIC,
    "publish": ["publish", "in/commands.onnx", "-o", "out/model", "--variants", "fp16"],
    "unpack": ["unpack", "in/commands.onnx", "--cache", "out"],
    "inspect": ["inspect", "in/commands.onnx"],
    "verify": ["verify", "in/commands.onnx", "in/commands.onnx"],
}


class Lab:
    def __init__(self, options, root):
        self.options, self.root, self.failures, self.runs = options, root, [], 0
        for name in ("in", "out", "tmp", "home"):
            (root / name).mkdir()
        for name in ("commands.onnx", "commands_calib.npz"):
            shutil.copy(options.example / name, root / "in" / name)

    def run(self, label, verb, limits=None, environment=None, allowed=(0, 4), lines=True, result="", **streams):
        self.runs += 1
        for name in ("out", "tmp"):
            for path in (self.root / name).iterdir():
                path.unlink() if path.is_file() else shutil.rmtree(path)
        variables = {"PATH": "/usr/bin:/bin", "HOME": str(self.root / "home"), "TMPDIR": str(self.root / "tmp")}
        variables.update(environment or {})
        variables = {key: text for key, text in variables.items() if text is not None}

        def prepare():
            for limit, number in (limits or {}).items():
                resource.setrlimit(limit, (number, number))

        where = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **streams}
        done = subprocess.run([self.options.ounce, *VERBS[verb]], cwd=self.root, env=variables, preexec_fn=prepare, timeout=PATIENCE,
                              text=True, **where)
        said = done.stderr or ""
        name = f"{label}, {verb}"
        if done.returncode not in allowed:
            self.failures.append(f"{name}: exit {done.returncode}: {said.strip()[-200:]}")
        if lines and done.returncode != 0 and (said.count("\n") != 1 or not said.startswith("ounce: ")):
            self.failures.append(f"{name}: says {said!r}")
        if done.returncode != 0:
            left = [path.name for folder in ("out", "tmp") for path in (self.root / folder).iterdir() if path.name != result]
            if left:
                self.failures.append(f"{name}: left behind {left}")
        return done.returncode

    def descriptors(self, verbs):
        for number in (16, 8, 5):
            for verb in verbs:
                self.run(f"{number} descriptors", verb, {resource.RLIMIT_NOFILE: number}, allowed=(0, 2, 3, 4))

    def file_size(self, verbs):
        for verb in verbs:
            code = self.run("files of 50 kB", verb, {resource.RLIMIT_FSIZE: 50_000})
            if verb == "quantize" and code != 4:
                self.failures.append(f"a file size limit is exit 4, not {code}")

    def memory(self, verbs):
        for megabytes in (60, 200, 600):
            for verb in verbs:
                self.run(f"{megabytes} MB of address space", verb, {resource.RLIMIT_AS: megabytes << 20}, allowed=(0, 2, 3, 4))

    def streams(self, verbs):
        for verb in verbs:
            # The report is printed after the model is written, and the model remains.
            result = "model" if verb == "publish" else "model.onnx"
            if verb == "unpack":
                continue  # it chooses the names of its results
            with open("/dev/full", "w") as full:
                self.run("a full standard output", verb, stdout=full, result=result)
            read, write = os.pipe()
            os.close(read)
            self.run("a closed pipe as standard output", verb, stdout=write, lines=False, allowed=(0, 4, -signal.SIGPIPE), result=result)
            os.close(write)

    def environment(self, verbs):
        for verb in verbs:
            self.run("no HOME", verb, environment={"HOME": None})
            self.run("a HOME that is not there", verb, environment={"HOME": "/nonexistent"})
            self.run("no locale", verb, environment={"LC_ALL": "xx_YY.nothing"})
        code = self.run("no folder for temporary files", "static", environment={"TMPDIR": "/nonexistent"})
        if code not in (0, 4):
            self.failures.append(f"no TMPDIR is exit 4, not {code}")

    def full_disk(self, verbs):
        """A tmpfs of 200 kB as the output folder."""
        out = self.root / "out"
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(out)], capture_output=True).returncode != 0:
            return False
        try:
            for verb in verbs:
                code = self.run("a full disk", verb)
                if code == 0:
                    self.failures.append(f"a full disk, {verb}: succeeds, so the disk is too large for this test")
        finally:
            subprocess.run(["umount", str(out)], check=True)
        return True


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--example", required=True, type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="two verbs only")
    options = parser.parse_args()
    verbs = ["quantize", "inspect"] if options.quick else list(VERBS)
    writing = [verb for verb in verbs if verb in ("quantize", "static", "publish", "unpack")]
    with tempfile.TemporaryDirectory(prefix="limits.") as folder:
        lab = Lab(options, pathlib.Path(folder))
        lab.descriptors(verbs)
        lab.file_size(writing)
        lab.memory(verbs)
        lab.streams(verbs)
        lab.environment(verbs)
        has_disk = lab.full_disk(writing)
    for failure in lab.failures:
        print(failure)
    print(f"{lab.runs} runs, {len(lab.failures)} failures{'' if has_disk else '; full disks skipped: no right to mount'}")
    return 1 if lab.failures else 0


if __name__ == "__main__":
    sys.exit(main())
