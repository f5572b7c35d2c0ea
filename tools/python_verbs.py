#!/usr/bin/env python3
"""Writes python/ounce/_verbs.py: a function for each verb, with the options, types and words of the command line.

usage: python_verbs.py LIBRARY [--check]     LIBRARY is libounce.so; --check: exit 1 if the file is not what it would write

The functions are written down rather than made at run time, so that editors and type checkers know them.
"""

import argparse
import ctypes
import json
import keyword
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "python" / "ounce" / "_verbs.py"

# What only a terminal needs, and what Python does in other ways.
LEFT_OUT = {"json", "verbose", "releases"}
# Arguments that take more than words.
TYPES = {
    "data": "Optional[Data]",
    "labels": "Optional[Union[str, Any]]",
    "metric": "Optional[Union[str, Metric]]",
    "contract": "Optional[Union[Word, Mapping[str, Any]]]",
}
MODELS = {"model", "reference", "candidate"}
WORDS = {
    "model": "a path, the bytes of a model, an onnx.ModelProto, or the result of a call that wrote a model",
    "reference": "the original: a path, the bytes of a model, or an onnx.ModelProto",
    "candidate": "the model to compare with it: a path, the bytes of a model, an onnx.ModelProto, or the result of a call "
    "that wrote a model",
    "data": "a path, paths by input, arrays by input (the first axis counts samples), a tuple (inputs, labels) of arrays, or "
    "an iterable of samples or batches (a DataLoader, a dataset, a CalibrationDataReader)",
    "labels": "the array or column with the labels, or the labels themselves; 'folder' for folders of images",
    "contract": "how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, or a dictionary",
}
# What Python takes beside the words of the option.
ALSO = {"metric": "; or a function of the outputs by name and of the labels that gives a number, or numbers by name"}
# A verb of several models takes them one behind the other, or as a list.
SEVERAL = {"bench": "models: paths, bytes, onnx.ModelProto or results; the others are compared with the first one"}
OUTPUTS = {
    "quantize": "where the result goes (default: model.w8.onnx beside a model that is a path; else the result has it: to_bytes())"
}
PROGRESS = (
    "True for a bar of tqdm, False for none, None for one where somebody is watching; or a function of what is worked on, the "
    "stage, how much is done and of how much"
)

HEAD = '''"""The verbs as functions. Written by tools/python_verbs.py from what the library says of itself; do not edit."""

# fmt: off
from __future__ import annotations

from typing import Any, List, Literal, Mapping, Optional, Union

from ._call import Metric, Model, Progress, Word, Words, call, several
from ._data import Data
from ._results import (
%s)
'''


def load(path):
    library = ctypes.CDLL(path)
    library.ounce_verbs.restype = ctypes.c_char_p
    library.ounce_call_new.restype = ctypes.c_void_p
    library.ounce_call_new.argtypes = [ctypes.c_char_p]
    library.ounce_call_help.restype = ctypes.c_char_p
    library.ounce_call_help.argtypes = [ctypes.c_void_p]
    verbs = json.loads(library.ounce_verbs())
    for verb in dict.fromkeys(name for verb in verbs for name in (verb.split()[0], verb)):
        yield json.loads(library.ounce_call_help(library.ounce_call_new(verb.encode())))


def python_name(name):
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def type_of(option, verb):
    name = option["name"]
    if name in MODELS:
        return "Union[Model, List[Model]]" if verb in SEVERAL else "Model"
    if name in TYPES:
        return TYPES[name]
    if option["kind"] == "flag":
        return "Optional[bool]"
    if "choices" in option and not option["list"]:
        return f"Optional[Literal[{', '.join(json.dumps(choice) for choice in option['choices'])}]]"
    if option.get("joined"):
        return "Optional[Words]"
    if option["list"]:
        return "Optional[Words]" if not option["required"] else "Words"
    return {"integer": "Optional[int]", "number": "Optional[float]"}.get(option["kind"], "Optional[Word]")


def default_of(option):
    return f" = {json.dumps(option['default'])}" if "choices" in option and "default" in option else " = None"


def words_of(option, verb, names):
    """The help of an option, with the options in it by their names in Python."""
    name = option["name"]
    words = OUTPUTS.get(verb) if name == "output" else None
    words = words or (SEVERAL.get(verb) if name in MODELS else None) or WORDS.get(name) or option["help"] + ALSO.get(name, "")
    if "default" in option and "choices" not in option and "default" not in words:
        words += f" (default: {option['default']})"
    words = words.replace("(repeatable)", "(one, or a list)").replace("(repeatable; ", "(one, or a list; ")
    return re.sub(r"--([a-z][a-z0-9-]*)", lambda m: python_name(m[1]) if m[1] in names else m[0], words)


def docstring(help_, described, verb, names, indent):
    lines = [help_[0].upper() + help_[1:] + ".", ""]
    group = None
    for option in described:
        if option["group"] != group and option["group"] != "Options":
            lines += ["", option["group"] + ":"]
        group = option["group"]
        text = f"{python_name(option['name'])}: {words_of(option, verb, names)}"
        lines += textwrap.wrap(text, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    lines += ["", *textwrap.wrap("progress: " + PROGRESS, 100, subsequent_indent="    ")]
    text = "\n".join((indent + line).rstrip() for line in lines).strip()
    return indent + 'r"""' + text + "\n" + indent + '"""'


def function(described, name, indent):
    verb, result = described["verb"], described["result"]
    options = [option for option in described["options"] if option["name"] not in LEFT_OUT]
    # What has no group comes first, as in the help.
    options.sort(key=lambda option: (not option["argument"], option["group"] != "Options"))
    names = {option["name"] for option in described["options"]}
    lines = [f"{indent}def {name}("]
    for option in options:
        is_model = option["name"] in MODELS
        if option["argument"]:
            usual = "" if option["required"] or is_model else " = None"
            lines.append(f"{indent}    {python_name(option['name'])}: {type_of(option, verb)}{usual},")
    # f(model, output): what every converter takes.
    behind = [option for option in options if option["name"] == "output" and sum(o["argument"] for o in options) == 1]
    for option in behind:
        lines.append(f"{indent}    output: {type_of(option, verb)}{default_of(option)},")
    lines.append(f"{indent}    *{'models: Model' if verb in SEVERAL else ''},")
    for option in options:
        if not option["argument"] and option not in behind:
            lines.append(f"{indent}    {python_name(option['name'])}: {type_of(option, verb)}{default_of(option)},")
    lines += [f"{indent}    progress: Progress = None,", f"{indent}) -> {result}:"]
    lines.append(docstring(described["help"], options, verb, names, indent + "    "))
    lines.append(f"{indent}    return call({json.dumps(verb)}, {result}, {{")
    for option in options:
        value = python_name(option["name"])
        if option["name"] in MODELS and verb in SEVERAL:
            value = f"several({value}, models)"
        lines.append(f"{indent}        \"{option['name'].replace('-', '_')}\": {value},")
    lines += [f"{indent}    }}, progress)"]
    return "\n".join(lines)


def written(library):
    described = {one["verb"]: one for one in load(library)}
    results = "".join(f"    {name},\n" for name in sorted({one["result"] for one in described.values() if not one["verbs"] or one["options"]}))
    parts = [HEAD % results]
    # Verbs that only hold others.
    groups = {verb for verb, one in described.items() if one["verbs"] and not one["options"]}
    for verb, one in described.items():
        if " " in verb and verb.split()[0] in groups:
            continue
        if verb in groups:
            inner = [function(described[f"{verb} {name}"], name, "    ") for name in one["verbs"]]
            text = f"class {verb}:\n    " + f'"""{one["help"][0].upper() + one["help"][1:]}."""\n\n'
            parts.append(text + "\n\n".join("    @staticmethod\n" + part for part in inner) + "\n")
            continue
        parts.append(function(one, verb.replace(" ", "_"), "") + "\n")
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = written(arguments.library)
    if not arguments.check:
        OUTPUT.write_text(text, encoding="utf-8")
        return 0
    if OUTPUT.read_text(encoding="utf-8") == text:
        return 0
    print(f"{OUTPUT.relative_to(ROOT)} is not what the library says: run tools/python_verbs.py LIBRARY", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
