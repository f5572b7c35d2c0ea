#!/usr/bin/env python3
"""Compares the catalog of messages (src/report/messages.cpp) with the sources.

usage: check_messages.py [ROOT]                    exit 0: no violations; 1: a line "file:line: message" per violation
       check_messages.py --write OUNCE             writes docs/reference/messages.md
       check_messages.py --check OUNCE             exit 1: that page is not current

- Each note of the library has a row: a string that is added to a list of notes contains the words of one of the patterns.
- Each pattern of a row has the words of a message in the sources.
- The ids are unique, and in ascending order.
"""

import json
import pathlib
import re
import subprocess
import sys

import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "messages.md"
HEAD = """# Messages

Notes and errors end with the id of their kind, such as `[OUN701]`. `ounce explain OUN701` prints the same text as this page; JSON documents
have the id of each entry of `notes` and `errors` as `id`. An id is never used for another kind of message.
`tools/check_messages.py` generates the page; do not edit it.
"""
CATALOG = "src/report/messages.cpp"
ROW = re.compile(r'\{"(OUN\d+)"')
NOTE = re.compile(r"\bnotes_?\.(?:push_back|emplace_back)\(")
# Folders whose strings are no messages of the library.
NOT_MESSAGES = {"src/report/messages.cpp"}
# Words of the C library.
OF_THE_SYSTEM = ["No such file or directory", "No space left on device"]
PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def rows(root):
    """(id, patterns) of every row."""
    strings = check_words.literals((root / CATALOG).read_text(encoding="utf-8"))
    found = []
    for at, (line, text) in enumerate(strings):
        if re.fullmatch(r"OUN\d{3}", text):
            says = strings[at + 2][1]
            found.append((line, text, [pattern for pattern in says.split("|") if pattern]))
    return found


def parts(pattern):
    return [part for part in pattern.split("*") if part]


def is_match(text, pattern):
    for part in parts(pattern):
        before, found, text = text.partition(part)
        if not found:
            return False
    return True


def sources(root):
    for file in sorted(root.glob("src/**/*")):
        place = file.relative_to(root).as_posix()
        if file.suffix in check_words.SOURCES and not file.name.endswith("_test.cpp") and place not in NOT_MESSAGES:
            yield place, file.read_text(encoding="utf-8")


def plain(literal):
    return literal.replace("\\\"", '"').replace("{{", "{").replace("}}", "}")


def notes(text):
    """(line, string) of every note: the first string of the call that adds it."""
    for call in NOTE.finditer(text):
        statement = text[call.end():text.find(";\n", call.end())]
        strings = check_words.literals(statement)
        if strings:
            yield text.count("\n", 0, call.start()) + strings[0][0], plain(strings[0][1])


def violations(root):
    catalog = rows(root)
    patterns = [(line, pattern) for line, _, says in catalog for pattern in says]
    for (_, before, _), (line, after, _) in zip(catalog, catalog[1:]):
        if before >= after:
            yield f"{CATALOG}:{line}: {after} follows {before}: the ids are unique and ascending"
    everything = list(OF_THE_SYSTEM)
    for place, text in sources(root):
        everything += [plain(string) for _, string in check_words.literals(text)]
        for line, note in notes(text):
            words = PLACEHOLDER.sub("", note)
            is_end = words.startswith((";", ":", ","))  # of a sentence that is made elsewhere
            if len(words.strip(" :;,")) > 3 and not is_end and not any(is_match(note, pattern) for _, pattern in patterns):
                yield f"{place}:{line}: no row of {CATALOG} has this note: {note!r}"
    for line, pattern in patterns:
        if not any(is_match(string, pattern) for string in everything):
            yield f"{CATALOG}:{line}: no message in the sources says {pattern!r}"


def page(ounce):
    text = subprocess.run([ounce, "explain", "--json"], check=True, capture_output=True, text=True).stdout
    parts = [HEAD]
    for row in json.loads(text)["results"]:
        parts.append(f"## {row['id']}: {row['title'][0].lower() + row['title'][1:]}\n\n- **Cause:** {row['cause']}\n"
                     f"- **Consequence:** {row['consequence']}\n- **Fix:** {row['fix']}\n")
    return "\n".join(parts)


def main(arguments):
    if len(arguments) == 2 and arguments[0] in ("--write", "--check"):
        text = page(pathlib.Path(arguments[1]).resolve())
        if arguments[0] == "--write":
            PAGE.write_text(text, encoding="utf-8")
        elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
            print(f"{PAGE.relative_to(ROOT)} is not current: tools/check_messages.py --write build/ounce")
            return 1
        return 0
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    if not (root / CATALOG).is_file():
        print(f"check_messages: {root} has no {CATALOG}", file=sys.stderr)
        return 2
    found = list(violations(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
