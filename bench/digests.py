#!/usr/bin/env python3
"""Prints the digest of every file that `ounce quantize` writes: every benchmark model in every format.

usage: OUNCE_ZOO=folder bench/digests.py [--ounce build/ounce] [--only kws,gpt] [--formats w8,int8] [--against FILE]

Prints one line per file: model, format, bytes, digest; or the exit code and the message. To check that a change does not
affect written files, keep the output from before the change and pass it with --against: exit 1 with the lines that differ.

--graph excludes the metadata of the models from sizes and digests: it contains names of options and the program's version.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile

from fp16 import ROWS
from int8 import EXAMPLES, places

FORMATS = ("w8", "w8 --codebook", "w4", "w16", "fp16", "bf16 --target cuda", "int8-dynamic", "int8", "int8 --no-search",
           "int8 --dialect qoperator --no-search", "int8 --rounding adaptive --no-search")
SAMPLES = ("--samples", "32")
NEEDS_DATA = ("int8", "fp16")


METADATA = 14  # metadata_props in ModelProto


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def without_metadata(model):
    """The bytes of a ModelProto without its metadata_props. All fields of a ModelProto are integers or have a length."""
    kept, at = [], 0
    while at < len(model):
        begin = at
        key, at = varint(model, at)
        size, at = varint(model, at)
        at += size if key % 8 == 2 else 0
        if key // 8 != METADATA:
            kept.append(model[begin:at])
    return b"".join(kept)


def line_of(ounce, name, form, model, data, is_graph):
    with tempfile.TemporaryDirectory() as scratch:
        small = os.path.join(scratch, "small.onnx")
        given = data if form.split()[0] in NEEDS_DATA else []
        done = subprocess.run([ounce, "quantize", model, "-o", small, "--to", *form.split(), *given],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return f"{name}\t{form}\texit {done.returncode}\t{done.stderr.strip().splitlines()[-1].replace(scratch, '')}"
        written, size = hashlib.sha256(), 0
        for file in sorted(os.listdir(scratch)):
            with open(os.path.join(scratch, file), "rb") as content:
                data = content.read()
            if is_graph and file == "small.onnx":
                data = without_metadata(data)
            size += len(data)
            written.update(file.encode() + b"\0" + data)
        return f"{name}\t{form}\t{size}\t{written.hexdigest()}"


def lines(options):
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    formats = options.formats.split(",") if options.formats else FORMATS
    for name, feeding in ROWS:
        if options.only and name not in options.only.split(","):
            continue
        folder = EXAMPLES if name == "commands" else zoo
        model, data = os.path.join(folder, name + ".onnx"), [*places(feeding, folder), *SAMPLES]
        for form in formats:
            yield line_of(options.ounce, name, form, model, data, options.graph)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--only", default="")
    parser.add_argument("--formats", default="")
    parser.add_argument("--graph", action="store_true", help="without the metadata of the models")
    parser.add_argument("--against")
    options = parser.parse_args()
    before = None
    if options.against:
        with open(options.against) as file:
            before = {tuple(line.split("\t")[:2]): line.rstrip("\n") for line in file}
    same = differing = 0
    for line in lines(options):
        if before is None:
            print(line, flush=True)
        elif before.get(tuple(line.split("\t")[:2])) == line:
            same += 1
        else:
            differing += 1
            print(f"before: {before.get(tuple(line.split(chr(9))[:2]))}\nafter:  {line}", flush=True)
    if before is not None:
        print(f"{same} the same, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
