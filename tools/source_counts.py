#!/usr/bin/env python3
"""Counts what the structure of src/ is judged by, and checks that no count grows.

usage: source_counts.py [--list NAME] [ROOT]     exit 0: no count is above its limit; 1: one is
       --list NAME   prints what a count is made of, one file or finding a line

Each count has a goal and a limit. The limit is the count at the time of the last change that lowered it: lower the limit with
the count. A change that has to raise one says why in its commit.
"""

import argparse
import collections
import pathlib
import re
import sys

import check_layers

Count = collections.namedtuple("Count", "name goal limit what")
COUNTS = [
    Count("lines", 68_000, 92_000, "lines of .h and .cpp in src/, without tests and formats other than ONNX"),
    Count("files", 500, 536, "files of the same kind"),
    Count("formats", 8, 8, "files outside recipe/, the planners and tests that name a Format::k…"),
    Count("op-names", 12, 12, "files outside ops/, target/ and tests with the name of an op as a string"),
    Count("cycles", 0, 0, "headers that include themselves through others"),
]

# Names of files and folders that only other formats need: their runtimes, targets and stages of quantize.
OTHER_FORMATS = re.compile(r"tflite|litert|coreml|runtime/mil|kernels/matmul|target/accelerators")
COMMENT = re.compile(r"//[^\n]*")
NAME = re.compile(r'"([A-Z][A-Za-z0-9]*)"')


def read(root):
    """Path below src/ → text, for sources that are neither tests nor of a file format other than ONNX."""
    files = {}
    for file in sorted((root / "src").rglob("*")):
        place = file.relative_to(root / "src")
        is_test = file.name.endswith("_test.cpp") or "test" in place.parts or file.name.startswith("test_")
        is_other_format = (place.parts[0] == "formats" and len(place.parts) > 2 and place.parts[1] not in ("onnx", "protobuf")
                           or OTHER_FORMATS.search(place.as_posix()))
        if file.suffix in (".h", ".cpp") and not is_test and not is_other_format:
            files[place] = file.read_text(encoding="utf-8")
    return files


def is_in(place, *folders):
    return any(place.as_posix().startswith(folder + "/") for folder in folders)


def op_names(root):
    """The names of all ops of ONNX and ONNX Runtime."""
    return {name for file in (root / "src").rglob("op_schemas.inc") for name in NAME.findall(file.read_text(encoding="utf-8"))}


def named_ops(text, names):
    return [name for name in NAME.findall(COMMENT.sub("", text)) if name in names]


def findings(root):
    """Name of a count → what it is made of."""
    files = read(root)
    names = op_names(root)
    outside_planners = {place: text for place, text in files.items()
                        if not is_in(place, "recipe", "plan", "formats/onnx/plan")}
    outside_ops = {place: text for place, text in files.items() if not is_in(place, "ops", "target")}
    sources = {pathlib.Path("src") / place: text for place, text in files.items()}
    return {
        "lines": [place for place, text in files.items() for _ in text.splitlines()],
        "files": list(files),
        "formats": [place for place, text in outside_planners.items()
                    if re.search(r"(?<!\w)Format::k[A-Z]", COMMENT.sub("", text))],
        "op-names": [place for place, text in outside_ops.items() if named_ops(text, names)],
        "cycles": list(check_layers.cycles(sources)),
    }


def main(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--list", choices=[count.name for count in COUNTS])
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    options = parser.parse_args(arguments)
    found = findings(options.root)
    if options.list:
        for thing, times in collections.Counter(found[options.list]).items():
            print(thing, times if times > 1 else "")
        return 0
    failed = 0
    for count in COUNTS:
        number = len(found[count.name])
        state = "" if number <= count.goal else f", goal {count.goal:,}"
        if number > count.limit:
            failed = 1
            state += f": more than the limit of {count.limit:,} (tools/source_counts.py --list {count.name})"
        print(f"{count.name:9} {number:7,}  {count.what}{state}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
