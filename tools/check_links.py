#!/usr/bin/env python3
"""Checks the links of the documentation.

usage: check_links.py [ROOT]     exit 0: all links lead somewhere; 1: a line "file:line: message" per violation

- Links and images in Markdown name files and headings that exist. Headings get their anchors as GitHub and MkDocs make them.
- Every path "docs/….md" in sources, scripts and comments exists.
- docs/README.md links to every page below docs, so that the site lists it.
"""

import pathlib
import re
import sys
import unicodedata

# Folders with files of this project, next to the files in ROOT itself.
FOLDERS = ["bench", "bindings", "cmake", "docs", "examples", "include", "packaging", "python", "src", "tests", "tools"]
INDEX = "docs/README.md"

FENCE = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
LINK = re.compile(r"\]\(([^)\s]+)\)|\bsrc=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$", re.MULTILINE)
MENTION = re.compile(r"(?<!\]\()(?<![\w./-])docs/[\w./-]+\.md\b")


def without_code(text):
    """The text with blanks in the place of code, so that positions stay."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return CODE.sub(blank, FENCE.sub(blank, text))


def github_anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def mkdocs_anchor(heading):
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def anchors(text):
    """Anchors that GitHub and MkDocs agree on."""
    found = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
        if github_anchor(heading) == mkdocs_anchor(heading):
            found.add(github_anchor(heading))
    return found


def files(root):
    found = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += (path for path in (root / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(found)


def text_of(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def links(page, text):
    """(line, target without anchor, anchor) of every link to a file of the project."""
    for match in LINK.finditer(without_code(text)):
        target = match.group(1) or match.group(2)
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        line = text.count("\n", 0, match.start()) + 1
        yield line, (page.parent / path).resolve() if path else page, anchor


def violations(root):
    root = root.resolve()
    listed = set()
    known_anchors = {}
    for path in files(root):
        place = path.relative_to(root)
        text = text_of(path)
        if place.parent.name == "tools" and path.name.endswith("_test.py"):  # names pages that it makes for itself
            continue
        for match in MENTION.finditer(text):
            if not (root / match.group(0)).is_file():
                yield f"{place}:{text.count(chr(10), 0, match.start()) + 1}: there is no {match.group(0)}"
        if path.suffix != ".md":
            continue
        for line, target, anchor in links(path, text):
            if place.as_posix() == INDEX:
                listed.add(target)
            if not target.exists():
                yield f"{place}:{line}: there is no {target.relative_to(root) if target.is_relative_to(root) else target}"
            elif anchor and target.suffix == ".md":
                if target not in known_anchors:
                    known_anchors[target] = anchors(text_of(target))
                if anchor not in known_anchors[target]:
                    yield f"{place}:{line}: {target.relative_to(root)} has no heading #{anchor}"
    for page in sorted((root / "docs").rglob("*.md")):
        if page not in listed and page != root / INDEX:
            yield f"{INDEX}:1: no link to {page.relative_to(root / 'docs')}"


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    if not (root / INDEX).is_file():
        print(f"check_links: {root} has no {INDEX}", file=sys.stderr)
        return 2
    found = list(violations(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
