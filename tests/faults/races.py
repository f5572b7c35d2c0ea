#!/usr/bin/env python3
"""Let many processes write one output at once: it must always be one of their complete results, and no file may be left.

usage: races.py --ounce PROGRAM --models FOLDER [--shim LIBRARY] [--processes N] [--rounds N]

The processes quantize one model to different formats under one name. Meanwhile the output is read repeatedly: each time it must
equal one of the results. With the shim no process gets an unnamed temporary file (O_TMPFILE), as on NFS and FUSE. As root,
processes also run in separate PID namespaces, where all have the same process id, as in containers.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PATIENCE = 600
FORMATS = ["w8", "w16", "w4", "fp16"]


def digest(path):
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


class Race:
    def __init__(self, options, root, label, prefix, environment):
        self.options, self.root, self.label, self.prefix = options, root, label, prefix
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(root), **environment}

    def start(self, form, output):
        return subprocess.Popen(
            [*self.prefix, self.options.ounce, "quantize", "external.onnx", "-o", output, "--to", form, "--no-verify", "--min-bytes", "16",
             "--threads", "1"], cwd=self.root, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def alone(self, form):
        process = self.start(form, "out/alone.onnx")
        _, said = process.communicate(timeout=PATIENCE)
        if process.returncode != 0:
            raise SystemExit(f"{self.label}, {form}: exit {process.returncode}: {said}")
        found = digest(self.root / "out/alone.onnx")
        for path in (self.root / "out").iterdir():
            path.unlink()
        return found

    def problems(self, number):
        known = {self.alone(form) for form in FORMATS}
        for _ in range(self.options.rounds):
            output = self.root / "out" / "one.onnx"
            running = [self.start(FORMATS[i % len(FORMATS)], "out/one.onnx") for i in range(number)]
            while any(process.poll() is None for process in running):
                seen = digest(output)
                if seen is not None and seen not in known:
                    yield "the output is none of the results while processes write it"
            for process in running:
                _, said = process.communicate(timeout=PATIENCE)
                if process.returncode != 0:
                    yield f"exit {process.returncode}: {said.strip()}"
            if digest(output) not in known:
                yield "the output is none of the results"
            left = [path.name for path in (self.root / "out").iterdir() if path.name != "one.onnx"]
            if left:
                yield f"left behind: {left}"
            shutil.rmtree(self.root / "out")
            (self.root / "out").mkdir()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--shim", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    no_tmpfile = {}
    if options.shim:
        no_tmpfile = {"LD_PRELOAD": str(options.shim), "FAULT_REFUSE": "open_tmpfile", "ASAN_OPTIONS": "verify_asan_link_order=0"}
    own_pids = ["unshare", "--pid", "--fork", "--mount-proc"]
    can_unshare = os.geteuid() == 0 and subprocess.run([*own_pids, "true"], capture_output=True).returncode == 0
    races = [("with unnamed files", [], {})]
    if options.shim:
        races.append(("with named temporary files", [], no_tmpfile))
        if can_unshare:
            races.append(("with one process id", own_pids, no_tmpfile))
    failures = 0
    for label, prefix, environment in races:
        with tempfile.TemporaryDirectory(prefix="races.") as folder:
            root = pathlib.Path(folder)
            (root / "out").mkdir()
            for name in ("external.onnx", "external.data"):
                shutil.copy(options.models / name, root / name)
            for problem in Race(options, root, label, prefix, environment).problems(options.processes):
                failures += 1
                print(f"{label}: {problem}", flush=True)
        print(f"{label}: {options.rounds} rounds of {options.processes} processes", flush=True)
    print(f"{failures} failures{'' if can_unshare else '; process namespaces skipped: not permitted'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
