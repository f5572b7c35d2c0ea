#!/usr/bin/env python3
"""Checks the spelling (American English) of comments, messages and documents with codespell.

usage: check_spelling.py [ROOT]     exit 0: no findings; 1: a line "file:line: message" per finding; 2: codespell is missing

The checked text is that of check_language.py, without names of code (with an underscore, a digit or an inner capital letter).
tools/spelling.txt lists words that are spelled correctly.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import check_language

NAME = re.compile(r"\w*(?:_|\d|[a-z][A-Z])\w*|--[\w-]+|[\w./]+/[\w./]+")
DICTIONARIES = "clear,rare,en-GB_to_en-US"


def prose_of(path, text):
    """The text that people read, at its lines and columns; everything else is blank."""
    blank = list(check_language.blank(text))
    for _, offset, words in check_language.chunks(path, text):
        blank[offset:offset + len(words)] = words.replace("`", " ")
    return NAME.sub(lambda match: " " * len(match[0]), "".join(blank))


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent).resolve()
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(name) / "files"  # codespell would read a pyproject.toml in its folder
        for path in check_language.files(root, ()):
            text = (root / path).read_bytes()
            if b"\0" in text[:1024] or path.name in ("language.txt", "spelling.txt", "check_language_test.py", "check_spelling_test.py"):
                continue
            if words := prose_of(path, text.decode("utf-8", "replace")).rstrip():
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                (copy / path).write_text(words, encoding="utf-8")
        try:
            done = subprocess.run(["codespell", "--builtin", DICTIONARIES, "--ignore-words", str(root / "tools" / "spelling.txt"), "files"],
                                  cwd=name, stdout=subprocess.PIPE, text=True)
        except FileNotFoundError:
            print("check_spelling: codespell is missing: run ./setup lint", file=sys.stderr)
            return 2
    found = [line.removeprefix("files/") for line in done.stdout.splitlines()]
    print("".join(line + "\n" for line in sorted(found)), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
