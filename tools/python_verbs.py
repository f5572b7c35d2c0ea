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

# Options that only a terminal needs, or that Python replaces.
LEFT_OUT = {"json", "verbose", "releases"}
# Arguments that take more than words.
TYPES = {
    "data": "Optional[Data]",
    "labels": "Optional[Union[str, Any]]",
    "metric": "Optional[Union[str, Metric]]",
    "preprocess": "Optional[Union[Word, Mapping[str, Any]]]",
    "expert": "Optional[Mapping[str, Union[Word, bool]]]",
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
    "preprocess": "how raw data becomes an input: a .toml or .json file, also a preprocessor_config.json, a dictionary, or "
    "'auto' to derive layout, size and scale from the data (the notes report them)",
}
# Values that Python accepts in addition to those of the option.
ALSO = {"metric": "; or a function of the outputs by name and of the labels that gives a number, or numbers by name"}
# A verb of several models takes them one behind the other, or as a list.
SEVERAL = {"bench": "models: paths, bytes, onnx.ModelProto or results; the others are compared with the first one"}
OUTPUTS = {
    "quantize": "the path of the new model (default: model.w8.onnx next to a model that is a path; for a model in memory, to_bytes() of the result)"
}
PROGRESS = (
    "True shows a tqdm progress bar, False shows none, None shows one in terminals and notebooks; or a function that is called with "
    "the model, the stage, the amount done and the total amount, and may return True to stop the call"
)

USUAL_RETURN = "Its attributes are the keys of the JSON document of the command; to_dict() returns them, print(result) prints the report."
RETURNS = {
    "quantize": "`output` is the path of the new model, `bytes_before` and `bytes_after` its size; a model in memory gives a result "
    "with to_bytes() and to_onnx().",
    "verify": "`passed` is False if a threshold is exceeded (this raises no exception), and `verdict` is the reason as a sentence.",
    "bench": "`models` has the latencies (ns), memory (bytes) and the speed relative to the first model.",
    "tune": "`passed` is False if no candidate meets the thresholds, `output` is the path of the best model.",
    "check": "`targets` has the findings for each target. An unsupported model raises no exception.",
}
RAISES = [
    "RequestError: an invalid argument, or an invalid file (a ValueError)",
    "UnsupportedError: the model is valid, and the operation is not supported for it",
    "MissingFileError: a file does not exist (a FileNotFoundError)",
    "RefusedError: another I/O error, such as a full disk (an OSError)",
    "StoppedError: `progress` returned True",
]
# The tests run these in a folder with model.onnx, small.onnx (the same model with 8-bit weights), val.npz with labels, and calib.npz.
EXAMPLES = {
    "quantize": ['ounce.quantize("model.onnx", "int8.onnx", to="int8", data="calib.npz")'],
    "verify": ['result = ounce.verify("model.onnx", "small.onnx", data="val.npz", labels="label", max_drop=0.02)',
               "assert result.passed, result.verdict"],
    "bench": ['print(ounce.bench("model.onnx", "small.onnx", seconds=0.2))'],
    "tune": ['ounce.tune("model.onnx", "best.onnx", data="val.npz", labels="label", max_drop=0.05, budget="2 models")'],
    "advise": ['ounce.advise("model.onnx", data="val.npz", budget="5s").verdict'],
    "inspect": ['ounce.inspect("model.onnx").bytes_after'],
    "check": ['print(ounce.check("model.onnx", target="android-arm64@1.22.0"))'],
    "report": ["import json, pathlib", "",
               'run = ounce.verify("model.onnx", "small.onnx", data="val.npz")',
               'pathlib.Path("run.json").write_text(json.dumps(run.to_dict()))',
               'ounce.report("run.json", output="page.html")'],
    "sensitivity": ['print(ounce.sensitivity("model.onnx", data="calib.npz", by="block"))'],
    "calibrate": ['ounce.calibrate("model.onnx", "ranges.json", data="calib.npz")'],
    "calibrate merge": ['ounce.calibrate("model.onnx", "a.json", data="calib.npz")',
                        'ounce.calibrate_merge(["a.json"], "ranges.json")'],
    "diff": ['ounce.diff("model.onnx", "small.onnx").same'],
    "publish": ['ounce.publish("model.onnx", "site", variants="q8")'],
    "contract set": ['ounce.contract.set("model.onnx", "with.onnx", rate=8000, length=8000, rescale="1/32768")'],
    "contract show": ['print(ounce.contract.show("model.onnx"))'],
    "contract check": ['ounce.contract.check("model.onnx", data="val.npz").passed'],
    "unpack": ['ounce.unpack("small.onnx", cache="cache").file'],
    "repack": ['ounce.repack("model.onnx", "copy.onnx", external_data="always")'],
    "overview": ['ounce.overview("model.onnx").formats[0].bytes'],
    "explain": ['print(ounce.explain("OUN110"))'],
    "shadow report": ['ounce.shadow.report(["phone.json"], min_agreement=0.99).passed'],
    "prove": ['ounce.prove("small.onnx").verdict'],
    "work": ['answered = ounce.work("queue", idle="0.1s").answered'],
}

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
    words = words or (SEVERAL.get(verb) if name in MODELS else None) or (WORDS.get(name) if name != "expert" else None) or option["help"] + ALSO.get(name, "")
    if "default" in option and "choices" not in option and "default" not in words:
        words += f" (default: {option['default']})"
    words = words.replace("(repeatable)", "(one, or a list)").replace("(repeatable; ", "(one, or a list; ")
    words = re.sub(r"--([a-z][a-z0-9-]*) '([^']*)'", lambda m: f'{python_name(m[1])}="{m[2]}"' if m[1] in names else m[0], words)
    return python_words(words, names)


def python_words(words, names):
    """A text with the options in it by their names in Python."""
    return re.sub(r"--([a-z][a-z0-9-]*)", lambda m: python_name(m[1]) if m[1] in names else m[0], words)


def docstring(help_, described, verb, result, names, indent):
    summary = re.sub(r" \(exit codes? [^)]*\)", "", help_)
    lines = [summary[0].upper() + summary[1:] + ".", "", "Args:"]
    group = "Options"

    def add(text):
        lines.extend(textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="        ", break_long_words=False, break_on_hyphens=False))

    for option in [*described, None]:
        if group == "Options" and (not option or option["group"] != group):
            add("progress: " + PROGRESS)
        if option and option["group"] != group:
            group = option["group"]
            lines += ["", python_words(group, names) + ":"]
        if option:
            add(f"{python_name(option['name'])}: {words_of(option, verb, names)}")
    lines += ["", "Returns:", *(f"    {line}" for line in textwrap.wrap(f"{result}. " + RETURNS.get(verb, USUAL_RETURN), 100))]
    lines += ["", "Raises:", *(f"    {line}" for line in RAISES)]
    if verb in EXAMPLES:
        lines += ["", "Example:", *(f"    {line}" for line in EXAMPLES[verb])]
    text = "\n".join((indent + line).rstrip() for line in lines).strip()
    return indent + 'r"""' + text + "\n" + indent + '"""'


def function(described, name, indent):
    verb, result = described["verb"], described["result"]
    options = [option for option in described["options"] if option["name"] not in LEFT_OUT and not option.get("expert")]
    expert = [option["name"] for option in described["options"] if option.get("expert")]
    # Options without a group come first, as in the help.
    options.sort(key=lambda option: (not option["argument"], option["group"] != "Options"))
    names = {option["name"] for option in described["options"]}
    lines = [f"{indent}def {name}("]
    for option in options:
        is_model = option["name"] in MODELS
        if option["argument"]:
            usual = "" if option["required"] or is_model else " = None"
            lines.append(f"{indent}    {python_name(option['name'])}: {type_of(option, verb)}{usual},")
    # f(model, output), as in every converter.
    behind = [option for option in options if option["name"] == "output" and sum(o["argument"] for o in options) == 1]
    for option in behind:
        lines.append(f"{indent}    output: {type_of(option, verb)}{default_of(option)},")
    lines.append(f"{indent}    *{'models: Model' if verb in SEVERAL else ''},")
    for option in options:
        if not option["argument"] and option not in behind:
            lines.append(f"{indent}    {python_name(option['name'])}: {type_of(option, verb)}{default_of(option)},")
    lines += [f"{indent}    progress: Progress = None,", f"{indent}) -> {result}:"]
    for option in options:
        if option["name"] == "expert" and expert:
            option["help"] = f"options for experiments, as a dictionary with the keys {', '.join(expert)}"
    lines.append(docstring(described["help"], options, verb, result, names, indent + "    "))
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
