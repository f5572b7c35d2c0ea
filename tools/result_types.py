#!/usr/bin/env python3
"""Writes the files that are generated from the fields of results (src/results/*_fields.h), by the schema that the program prints:

- docs/schema/ounce-v2.json, the schema
- docs/reference/json.md, the reference of all keys
- python/ounce/_results.py, a class for each object

usage: result_types.py OUNCE [--check]     OUNCE is the program; --check: exit 1 if a file is not current
"""

import argparse
import json
import keyword
import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Classes of Python whose names say which function gives them.
NAMES = {
    "BenchReport": "BenchResult",
    "BenchResult": "BenchedModel",
    "CheckReport": "CheckResult",
    "CheckedContract": "ContractCheckResult",
    "DecodeReport": "DecodeResult",
    "DecodeResult": "DecodedModel",
    "Error": "ReportedError",
    "ExplainedMessage": "ExplainResult",
    "ModelInfo": "InspectResult",
    "Overview": "OverviewResult",
    "Proof": "ProveResult",
    "ReportPage": "ReportResult",
    "ShadowResult": "ShadowReportResult",
    "Unpacked": "UnpackResult",
}
BASES = {
    "CheckResult": "CheckMethods, Result",
    "CopyResult": "ModelResult",
    "QuantizeResult": "ModelResult",
    "TuneResult": "ModelResult",
    "VerifyResult": "VerifyMethods, Result",
}
# The figures that a notebook shows.
SHOWN = {
    "InspectResult": {
        "model": "model",
        "bytes": "bytes",
        "bytes_after": "bytes after quantize",
        "nodes": "nodes",
        "opsets": "opsets",
        "notes": "notes",
        "blockers": "blockers",
    },
    "OverviewResult": {"model": "model", "bytes": "bytes", "family": "family", "commands": "commands"},
    "ExplainResult": {"id": "code", "title": "title", "cause": "cause", "fix": "fix"},
    "QuantizeResult": {
        "output": "output",
        "stored_as": "stored as",
        "bytes_before": "bytes before",
        "bytes_after": "bytes after",
        "ratio": "ratio",
        "sqnr_db": "weights, dB",
        "notes": "notes",
    },
    "CalibrateResult": {"output": "output", "samples": "samples", "notes": "notes"},
    "VerifyResult": {
        "passed": "passed",
        "verdict": "verdict",
        "samples": "samples",
        "max_abs_diff": "largest difference",
        "failures": "failures",
        "notes": "notes",
    },
    "BenchResult": {"runtime_version": "ONNX Runtime", "cpu": "CPU", "threads": "threads", "notes": "notes"},
    "SensitivityResult": {"model": "model", "notes": "notes"},
    "TuneResult": {"passed": "passed", "output": "output", "notes": "notes"},
    "AdviseResult": {"model": "model", "verdict": "verdict", "notes": "notes"},
    "CheckResult": {"model": "model", "opset": "opset", "file_bytes": "bytes", "memory_bytes": "bytes in memory"},
    "CopyResult": {"output": "output", "bytes_before": "bytes before", "bytes_after": "bytes after"},
    "PublishResult": {"output": "output", "layout": "layout", "configs": "configs", "notes": "notes"},
    "ProveResult": {"model": "model", "verdict": "verdict", "reason": "reason"},
    "DiffResult": {"a": "a", "b": "b", "same": "same", "changes": "changes"},
    "ReportResult": {"output": "output", "bytes": "bytes"},
    "ContractCheckResult": {"passed": "passed", "samples": "samples", "findings": "findings"},
    "UnpackResult": {"file": "file", "bytes": "bytes", "model_bytes": "packed bytes", "why_not": "why not"},
    "ShadowReportResult": {
        "passed": "passed",
        "reasons": "reasons",
        "compared": "calls compared",
        "agreement": "agreement",
    },
}


def without_null(schema):
    """A schema, and whether it allows null, too."""
    if "anyOf" in schema:
        return schema["anyOf"][0], True
    if isinstance(schema.get("type"), list):
        one = {**schema, "type": schema["type"][0]}
        one["enum"] = [value for value in schema.get("enum", []) if value is not None]
        return (one if one["enum"] else {**schema, "type": schema["type"][0]}), True
    return schema, False


def target_of(schema):
    """The name of the object that a schema refers to, or None."""
    reference = schema.get("$ref") or schema.get("allOf", [{}])[0].get("$ref")
    return reference.rpartition("/")[2] if reference else None


def python_type(schema):
    schema, is_optional = without_null(schema)
    if is_optional:
        return f"Optional[{python_type(schema)}]"
    target = target_of(schema)
    if target:
        return NAMES.get(target, target)
    if schema["type"] == "array":
        return f"List[{python_type(schema['items'])}]"
    if schema["type"] == "object":
        return f"Dict[str, {python_type(schema['additionalProperties'])}]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[schema["type"]]


def results_by_verb(schema):
    """verb → names of its results."""
    found = {}
    for rule in schema["allOf"]:
        items = rule["then"]["properties"]["results"]["items"]
        found[rule["if"]["properties"]["verb"]["const"]] = [target_of(one) for one in items.get("anyOf", [items])]
    return found


def in_order(definitions):
    """Objects after those that they hold."""
    done = []

    def visit(name):
        if name in done:
            return
        for schema in definitions[name]["properties"].values():
            for part in (without_null(schema)[0], without_null(schema)[0].get("items", {})):
                if target_of(part):
                    visit(target_of(part))
        done.append(name)

    for name in definitions:
        visit(name)
    return done


def python_module(schema):
    definitions = {name: one for name, one in schema["definitions"].items()}
    verbs = results_by_verb(schema)
    roots = {name for names in verbs.values() for name in names}
    parts = [
        '"""Results of the verbs: the objects of docs/reference/json.md as classes.\n\n'
        'Made by tools/result_types.py of docs/schema/ounce-v2.json; do not edit.\n"""\n\n'
        "from __future__ import annotations\n\n"
        "from dataclasses import dataclass\n"
        "from typing import Any, Dict, List, Optional, Tuple, Type\n\n"
        "from ._result import CheckMethods, ContractResult, ModelResult, Result, Struct, VerifyMethods\n"
    ]
    for name in in_order(definitions):
        python = NAMES.get(name, name)
        base = BASES.get(python, "Result" if name in roots else "Struct")
        verb = next((verb for verb, names in verbs.items() if name in names), None)
        about = f"The result of {verb}." if verb else "An object of a result."
        lines = [f"@dataclass(repr={'False' if name in roots else 'True'})", f"class {python}({base}):", f'    """{about}"""', ""]
        if python in SHOWN:
            pairs = [f"        ({key!r}, {words!r}),".replace("'", '"') for key, words in SHOWN[python].items()]
            lines += ["    _shown = (", *pairs, "    )"]
        for key, field in definitions[name]["properties"].items():
            attribute = key + "_" if keyword.iskeyword(key) else key
            lines += textwrap.wrap(field["description"], 116, initial_indent="    #: ", subsequent_indent="    #: ")
            lines.append(f"    {attribute}: {python_type(field)}")
        parts.append("\n".join(lines) + "\n")
    rows = [
        f'    "{verb}": ({", ".join(NAMES.get(name, name) for name in names)},),' for verb, names in verbs.items()
    ]
    parts.append("#: Verb: the classes that its results may have.\nCLASSES: Dict[str, Tuple[Type[Any], ...]] = {\n" + "\n".join(rows) + "\n}\n")
    names = sorted([NAMES.get(name, name) for name in definitions] + ["CLASSES", "ContractResult", "ModelResult", "Result", "Struct"])
    parts.append("__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n")
    return "\n\n".join(parts)


HEAD = """# JSON

`--json` prints one document on stdout. This page lists its keys. [schema/ounce-v2.json](../schema/ounce-v2.json) is the same as a JSON
schema, and `ounce schema` prints the schema of the installed version. `tools/result_types.py` generates the page from the sources; do not
edit it.

The documents of all commands have the same outer form:

```json
{
  "schema_version": 2,
  "verb": "quantize",
  "command": "ounce quantize model.onnx",
  "results": [],
  "notes": [],
  "errors": [],
  "baseline": null,
  "next": null
}
```

- `results` has one object for each model that succeeded; `bench`, `diff`, `publish` and others have one for all models.
- `notes` has all notes of the results, and `errors` one object for each model that failed; `id` is the [code](messages.md) of
  the message.
- `baseline` has the figures that `--baseline` compared; `next` is the command that usually follows, for a shell.
- An object of one type has the same keys everywhere.
- Values that are unknown, absent or not applicable are `null`. Infinite and NaN numbers are `null`, too; `exact` is true if a
  signal-to-noise ratio is infinite.
- Times are whole nanoseconds (`_ns`), sizes are bytes (`bytes`, `_bytes`), signal-to-noise ratios are decibels (`_db`).
- This version may get more keys; no key is renamed or removed.

`ounce report` also reads documents of version 1.
"""


def words_of_type(schema):
    schema, is_optional = without_null(schema)
    target = target_of(schema)
    if target:
        words = f"[{target}](#{target.lower()})"
    elif schema["type"] == "array":
        words = "list of " + words_of_type(schema["items"])
    elif schema["type"] == "object":
        words = "object of " + words_of_type(schema["additionalProperties"])
    elif "enum" in schema:
        words = ", ".join(f"`{value}`" for value in schema["enum"])
    else:
        words = {"string": "text", "boolean": "bool"}.get(schema["type"], schema["type"])
    return words + (" or null" if is_optional else "")


def reference(schema):
    parts = [HEAD]
    verbs = results_by_verb(schema)
    parts.append("## Results by command\n")
    parts.append("| `verb` | objects in `results` |\n|---|---|")
    parts += [f"| `{verb}` | {', '.join(words_of_type({'$ref': name}) for name in names)} |" for verb, names in verbs.items()]
    parts.append("\n## Objects\n")
    roots = [name for names in verbs.values() for name in names]
    others = sorted(name for name in schema["definitions"] if name not in roots)
    for name in list(dict.fromkeys(roots)) + others:
        parts.append(f"### {name}\n")
        parts.append("| key | type | meaning |\n|---|---|---|")
        for key, field in schema["definitions"][name]["properties"].items():
            meaning = field.get("description", "").replace("|", "\\|")
            parts.append(f"| `{key}` | {words_of_type(field)} | {meaning} |")
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("ounce", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = subprocess.run([arguments.ounce, "schema"], check=True, capture_output=True, text=True).stdout
    schema = json.loads(text)
    files = {
        ROOT / "docs" / "schema" / "ounce-v2.json": text,
        ROOT / "docs" / "reference" / "json.md": reference(schema),
        ROOT / "python" / "ounce" / "_results.py": python_module(schema),
    }
    stale = [path for path, made in files.items() if not path.exists() or path.read_text() != made]
    if arguments.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not current: python3 tools/result_types.py build/ounce")
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
