#!/usr/bin/env python3
"""Checks that messages of the library name fields, and only the command line names options.

usage: check_words.py [ROOT]     exit 0: no violations; 1: a line "file:line: message" per violation

The rule, for the string literals of src/ outside of tests:
- A folder of the library names no option ("--data") but the field that it sets, in backticks: `data`, `format=int8`.
- Every field in backticks is in the table of src/report/recipe_command.cpp, which makes options of them, or is a field of a
  recipe in src/recipe/fields.h.
- A field of that table is in include/ounce, and its option in src/verbs.
"""

import pathlib
import re
import sys

# These folders write messages for users of the command line.
ABOVE_THE_LIBRARY = {"report", "results", "verbs", "cli", "capi", "runner"}
# Write command lines and help.
WRITES_COMMANDS = {"src/search/advise/methods.cpp", "src/search/advise/overview.cpp", "src/recipe/fields.h"}

TABLE = "src/report/recipe_command.cpp"
RECIPE = "src/recipe/fields.h"
RECIPE_ROW = re.compile(r'\.path = "([^"]+)",\s*\.option = "([^"]+)"')
ROW = re.compile(r'\{"([^"]+)", "([^"]+)"\}')
OPTION = re.compile(r"--[a-z][a-z-]*")
FIELD = re.compile(r"`([^`]*)`")
SOURCES = {".h", ".cpp", ".inc"}
# Comments, raw strings, strings and characters; a quote inside a number does not start a character.
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/
    |R"(?P<mark>[^()\\\s]*)\((?P<raw>.*?)\)(?P=mark)"
    |"(?P<text>(?:\\.|[^"\\\n])*)"
    |(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.VERBOSE)


def literals(text):
    """(line, text) of every string of a source; adjacent strings are one."""
    found = []
    end = None
    for token in TOKEN.finditer(text):
        string = token["raw"] if token["raw"] is not None else token["text"]
        if string is None:
            continue
        if end is not None and not text[end:token.start()].strip():
            found[-1][1] += string
        else:
            found.append([text.count("\n", 0, token.start()) + 1, string])
        end = token.end()
    return found


def table(root):
    """{field: option}"""
    rows = {}
    for name, row in ((TABLE, ROW), (RECIPE, RECIPE_ROW)):
        if (root / name).is_file():
            rows |= dict(row.findall((root / name).read_text(encoding="utf-8")))
    return rows


def complaints(text, options, may_name_options):
    """The violations in one string of the library."""
    if not may_name_options and (option := OPTION.search(text)):
        yield f'"{option.group()}": only the command line has options; name the field in backticks'
    if text.count("`") % 2:
        yield "an unpaired backtick: write a field and both of its backticks in one string"
        return
    for field in FIELD.findall(text.replace("{{", "{").replace("}}", "}")):
        if field not in options and field.partition("=")[0] not in options:
            yield f"`{field}` is no field in the table of {TABLE}"


def violations(root):
    options = table(root)
    typed = ""
    for file in sorted(root.glob("src/**/*")):
        if file.suffix not in SOURCES or file.name.endswith("_test.cpp"):
            continue
        place = file.relative_to(root)
        text = file.read_text(encoding="utf-8")
        if place.parts[1] == "verbs" or place == pathlib.Path(RECIPE):
            typed += "\n".join(string for _, string in literals(text))
        if place.parts[1] in ABOVE_THE_LIBRARY:
            continue
        may_name_options = place.as_posix() in WRITES_COMMANDS
        for line, string in literals(text):
            if place.parts[1] == "recipe":  # its messages name the field that they are about
                string = string.replace("`{}`", "")
            for why in complaints(string, options, may_name_options):
                yield f"{place}:{line}: {why}"
    known = set(re.findall(r"\w+", "".join(file.read_text(encoding="utf-8") for file in root.glob("include/ounce/*.h"))))
    options_typed = set(OPTION.findall(typed))
    for field, option in options.items():
        for name in re.findall(r"[a-z_0-9]+", field.partition("=")[0].replace(" with ", " ")):
            if name not in known:
                yield f"{TABLE}:1: `{field}`: include/ounce has no '{name}'"
        for name in OPTION.findall(option):
            if name not in options_typed:
                yield f"{TABLE}:1: `{field}`: the command line has no {name}"


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    if not (root / TABLE).is_file():
        print(f"check_words: {root} has no {TABLE}", file=sys.stderr)
        return 2
    found = list(violations(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
