#!/usr/bin/env python3
"""The include graph of src/ by folder: a picture for src/README.md, and figures.

usage: include_graph.py [ROOT]            prints the picture (Mermaid)
       include_graph.py [ROOT] --write    puts it between the marks in src/README.md
       include_graph.py [ROOT] --check    exit 1 when what stands there is out of date
       include_graph.py [ROOT] --table    files, lines and include lines by folder, tests apart

An arrow from A to B: a file of A includes one of B. What follows from other arrows is left out of the picture.
"""

import argparse
import collections
import pathlib
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')
SOURCES = {".h", ".cpp", ".inc"}
BEGIN, END = "<!-- begin of tools/include_graph.py -->", "<!-- end of tools/include_graph.py -->"


def files_of(root):
    for file in sorted((root / "src").glob("*/*")):
        if file.suffix in SOURCES:
            yield file.parent.name, file


def is_test(file):
    return file.name.endswith("_test.cpp")


def edges_of(root):
    """How many include lines lead from one folder to another; tests do not count."""
    folders = {folder for folder, _ in files_of(root)}
    edges = collections.Counter()
    for folder, file in files_of(root):
        if is_test(file):
            continue
        for line in file.read_text(encoding="utf-8").splitlines():
            if match := INCLUDE.match(line):
                used = match[1].partition("/")[0]
                if used in folders and used != folder:
                    edges[folder, used] += 1
                elif used == "ounce" and folder in ("capi", "cli", "report", "verbs"):
                    edges[folder, "include/ounce"] += 1
    edges["api", "include/ounce"] += 1  # it implements them
    return edges


def without_shortcuts(edges):
    """Arrows for which there is no longer way."""
    below = collections.defaultdict(set)
    for above, used in edges:
        below[above].add(used)

    def reaches(start, goal, seen):
        return any(used == goal or (used not in seen and reaches(used, goal, seen | {used})) for used in below[start])

    return sorted((above, used) for above, used in edges
                  if not any(other != used and reaches(other, used, {other}) for other in below[above]))


def picture(root):
    lines = ["```mermaid", "graph TD"]
    lines += [f"  {above} --> {used.replace('/', '_')}" for above, used in without_shortcuts(edges_of(root))]
    lines += ["  include_ounce[include/ounce]", "```"]
    return "\n".join(lines)


def table(root):
    files, lines, tests = collections.Counter(), collections.Counter(), collections.Counter()
    for folder, file in files_of(root):
        if is_test(file):
            tests[folder] += 1
            continue
        files[folder] += 1
        lines[folder] += len(file.read_text(encoding="utf-8").splitlines())
    edges = {pair: count for pair, count in edges_of(root).items() if pair[1] != "include/ounce"}
    rows = ["| folder | files | lines | tests | include lines to others | folders it includes |", "|---|---|---|---|---|---|"]
    for folder in sorted(files):
        out = {used: count for (above, used), count in edges.items() if above == folder}
        rows.append(f"| {folder} | {files[folder]} | {lines[folder]} | {tests[folder]} | {sum(out.values())} | {len(out)} |")
    rows.append(f"| in all | {sum(files.values())} | {sum(lines.values())} | {sum(tests.values())} | {sum(edges.values())} | {len(edges)} |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent, type=pathlib.Path)
    what = parser.add_mutually_exclusive_group()
    for option in ("--write", "--check", "--table"):
        what.add_argument(option, action="store_true")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(arguments.root))
        return 0
    drawn = picture(arguments.root)
    if not (arguments.write or arguments.check):
        print(drawn)
        return 0
    readme = arguments.root / "src" / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    updated = f"{before}{BEGIN}\n{drawn}\n{END}{after}"
    if arguments.write:
        readme.write_text(updated, encoding="utf-8")
    elif updated != text:
        print("the picture in src/README.md is out of date: tools/include_graph.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
