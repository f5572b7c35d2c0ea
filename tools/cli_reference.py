#!/usr/bin/env python3
"""Writes the command line reference, docs/reference/cli.md, from the help texts of the program.

usage: cli_reference.py OUNCE [--check docs/reference/cli.md | --write docs/reference/cli.md]     exit 1: the file is not current
"""

import argparse
import pathlib
import subprocess
import sys

HEAD = """# Command line reference

This page has the output of `ounce COMMAND --help-all` for every command. `ounce COMMAND --help` shows the common options only.
`tools/cli_reference.py` generates the page; do not edit it.
"""


def help_of(ounce, *verb):
    return subprocess.run([ounce, *verb, "--help-all"], check=True, capture_output=True, text=True).stdout.rstrip()


def reference(ounce):
    pages = subprocess.run([ounce, "man", "--list"], check=True, capture_output=True, text=True).stdout.split()
    parts = [HEAD, f"```text\n{help_of(ounce)}\n```\n"]
    for page in pages:
        verb = page.split("-")[1:]
        if verb:
            parts.append(f"{'#' * (len(verb) + 1)} {' '.join(verb)}\n\n```text\n{help_of(ounce, *verb)}\n```\n")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("ounce", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--check", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    text = reference(arguments.ounce)
    if arguments.write:
        arguments.write.write_text(text)
    elif arguments.check:
        if arguments.check.read_text() != text:
            print(f"{arguments.check} is not current: python3 tools/cli_reference.py build/ounce --write docs/reference/cli.md")
            return 1
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
