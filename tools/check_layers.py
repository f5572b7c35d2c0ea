#!/usr/bin/env python3
"""Checks the layer rule over the #include lines of src/ and include/.

usage: check_layers.py [ROOT]     exit 0: it holds; 1: a line "file:line: message" per violation

The rule:
- A folder of src/ includes itself, the folders that MAY_USE gives it, and theirs in turn.
- A face (verbs, cli, capi, runner) includes itself, <ounce/…> and only the folders named for it.
- include/ounce, which is installed, includes nothing of src/.
- <ounce/…>: up to measure only the words that all verbs share (VOCABULARY), and what of a verb's header is named for a
  folder; from make on, every one.
- The headers of ONNX Runtime are included in src/runtime alone.
- A file of ours is named with its folder: "graph/node.h", not "node.h".
Tests (*_test.cpp) stand beside what they test and may include anything.
"""

import pathlib
import re
import sys

MAY_USE = {
    "base": [],
    "io": ["base"],
    "onnx": ["io"],
    "graph": ["onnx"],
    "kernels": [],
    "quant": ["kernels", "base"],
    "observe": ["kernels", "quant"],
    "target": ["graph", "quant"],
    "plan": ["graph", "quant", "observe", "target"],
    "passes": ["plan", "graph", "quant"],
    "data": ["onnx", "kernels"],
    "runtime": ["graph", "data"],
    "measure": ["runtime", "plan", "passes"],
    "make": ["measure"],
    "search": ["make"],
    "publishing": ["io"],
    "app": ["runtime", "data"],
    # Implements include/ounce, one file for each header, so it stands on everything.
    "api": ["search", "publishing", "app"],
    # Shows the results of include/ounce, and knows nothing of what made them.
    "report": ["base"],
}
FACES = {
    "verbs": ["report", "io", "base"],  # every verb with its options
    "cli": ["verbs", "report", "base"],
    "capi": ["verbs", "io", "base"],
    "runner": ["runtime", "base"],
}

# Of include/ounce: what is no verb's own.
VOCABULARY = {"contract", "cpus", "data", "error", "file_guard", "load_memory", "names", "outcome", "pictures", "progress", "recipe", "runtime", "version"}
# Folders that compute what a verb reports, and share its words; the fewer of them, the better.
WORDS_OF_VERBS = {
    "target": {"check"},
    "measure": {"bench", "check", "verify"},
}
ABOVE = {"make", "search", "publishing", "api", "report", "app", "verbs", "cli", "python", "capi"}

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".h", ".cpp", ".inc"}


def reachable(folder):
    """The folders that `folder` may include: its own, what it may use, and so on downwards."""
    found = {folder}
    for used in MAY_USE[folder]:
        found |= reachable(used)
    return found


ALLOWED = {folder: reachable(folder) for folder in MAY_USE}
ALLOWED |= {face: {face, *named} for face, named in FACES.items()}


def complaint(folder, quote, path):
    """Why a file of `folder` (None: include/ounce) may not include `path`, or None if it may."""
    used, slash, name = path.partition("/")
    if path.startswith("onnxruntime_") and folder != "runtime":
        return f'"{path}": only src/runtime includes the headers of ONNX Runtime'
    if used == "ounce" and folder is not None and folder not in ABOVE:
        header = name.removesuffix(".h")
        if header not in VOCABULARY | WORDS_OF_VERBS.get(folder, set()):
            return f"<{path}>: a verb's header, and {folder} is below all verbs"
    if quote == '"' and not slash:
        return f'"{path}": name it with its folder'
    if used not in ALLOWED:
        return None  # <ounce/…>, the standard library, somebody else's
    if folder is None:
        return f'"{path}": an installed header cannot include src/'
    if used not in ALLOWED[folder]:
        allowed = ", ".join(sorted(ALLOWED[folder] - {folder})) or "no other folder"
        return f'"{path}": {folder} may not use {used} (it may use {allowed})'
    return None


def violations(root):
    for file in sorted([*root.glob("src/**/*"), *root.glob("include/**/*")]):
        if file.suffix not in SOURCES or file.name.endswith("_test.cpp"):
            continue
        place = file.relative_to(root)
        folder = place.parts[1] if place.parts[0] == "src" else None
        if folder is not None and folder not in ALLOWED:
            yield f"{place}:1: src/{folder} has no line in the table of tools/check_layers.py"
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if match := INCLUDE.match(line):
                if why := complaint(folder, *match.groups()):
                    yield f"{place}:{number}: {why}"


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    if not (root / "src").is_dir():
        print(f"check_layers: {root} has no src/", file=sys.stderr)
        return 2
    found = list(violations(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
