#!/usr/bin/env python3
"""Runs quantize and copy under Valgrind, to detect uses of uninitialized memory, also in written files.

usage: memcheck.py --ounce PROGRAM --model FILE [--ranges FILE] [--only FORMAT …]     exit 0: Valgrind saw nothing

Writes MODEL once in every format. The runtime is not run, because its defects cannot be fixed here.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

FORMATS = {
    "w8": ["quantize", "--to", "w8"],
    "w8-asymmetric": ["quantize", "--to", "w8", "--asymmetric"],
    "w8-codebook": ["quantize", "--to", "w8", "--codebook"],
    "w4": ["quantize", "--to", "w4"],
    "w4-dq": ["quantize", "--to", "w4", "--decode", "dq"],
    "w16": ["quantize", "--to", "w16"],
    "fp16": ["quantize", "--to", "fp16"],
    "int8-dynamic": ["quantize", "--to", "int8-dynamic"],
    "int8": ["quantize", "--to", "int8"],
    "external": ["quantize", "--to", "w8", "--external-data", "always"],
    "copy": ["copy", "--external-data", "always"],
}
FOUND = 99


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ounce", required=True, type=pathlib.Path)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--ranges", type=pathlib.Path, help="for int8; without it that format is left out")
    parser.add_argument("--only", nargs="*", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    arguments = parser.parse_args()
    formats = arguments.only or [name for name in FORMATS if name != "int8" or arguments.ranges]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in formats:
            verb, *options = FORMATS[name]
            if verb == "quantize":
                options += ["--no-verify", "--threads", "2"]
            if name == "int8":
                options += ["--ranges", arguments.ranges]
            command = ["valgrind", "--quiet", f"--error-exitcode={FOUND}", "--leak-check=full", "--errors-for-leak-kinds=definite",
                       "--show-leak-kinds=definite", arguments.ounce, verb, arguments.model, "-o", f"{folder}/{name}.onnx",
                       *options]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
            print(f"{name}: {'clean' if done.returncode == 0 else 'exit ' + str(done.returncode)}", flush=True)
            if done.returncode != 0:
                print(done.stderr, flush=True)
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
