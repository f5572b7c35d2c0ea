#!/usr/bin/env python3
"""Prepares the documentation for MkDocs.

usage: site_pages.py ROOT FOLDER     writes FOLDER/mkdocs.yml and FOLDER/docs

The index page docs/README.md is the home page. Its sections and links become the navigation of the site. Notebooks of
examples become pages. Links to other files outside of docs (sources, headers) become plain text, because the site does not have these
files. MkDocs checks the other links and their anchors.
"""

import json
import pathlib
import posixpath
import re
import shutil
import sys

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)]+)\)")


def navigation(index):
    """[(section, [(title, page)])] of the index page."""
    sections = []
    for line in index.splitlines():
        if line.startswith("## "):
            sections.append((line[3:], []))
        elif sections and line.startswith("- "):
            sections[-1][1].extend((title, page_of(page)) for _, title, page in LINK.findall(line))
    return sections


def page_of(target):
    """The page of the site for a link of the index: notebooks are pages in the folder notebooks."""
    return f"notebooks/{pathlib.PurePath(target).stem}.md" if target.endswith(".ipynb") else target


def notebook_page(path):
    """A notebook as Markdown: code and its text output as code blocks."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            text = "".join(output.get("text") or output["data"]["text/plain"]).rstrip()
            parts.append(f"```\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def without_links_outside(text, page, files):
    """Replaces links to files that the site does not have with their text."""
    def link(match):
        mark, words, target = match.groups()
        path = target.partition("#")[0]
        if not path or ":" in path:
            return match.group(0)
        found = posixpath.normpath((page.parent / path).as_posix())
        if found.endswith(".ipynb"):
            return f"[{words}]({posixpath.relpath(page_of(found), page.parent.as_posix())})"
        return match.group(0) if found in files else words
    return LINK.sub(link, text)


def main(root, folder):
    docs = folder / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "docs", docs)
    (docs / "notebooks").mkdir()
    for notebook in (root / "examples").glob("*.ipynb"):
        # Links of a notebook are relative to examples.
        text = notebook_page(notebook).replace("](../docs/", "](../")
        (docs / page_of(notebook.name)).write_text(text)
    files = {path.relative_to(docs).as_posix() for path in docs.rglob("*") if path.is_file()}
    for page in docs.rglob("*.md"):
        page.write_text(without_links_outside(page.read_text(), page.relative_to(docs), files))
    lines = ["site_name: Ounce", "site_description: Quantizes ONNX, TFLite and Core ML models and tests every model it writes", "docs_dir: docs",
             "theme:\n  name: readthedocs\n  highlightjs: false", "plugins:\n  - search",
             "validation:\n  links:\n    not_found: warn\n    anchors: warn\n    absolute_links: warn",
             "nav:", "  - Overview: README.md"]
    for title, pages in navigation((root / "docs" / "README.md").read_text()):
        lines.append(f"  - {json.dumps(title)}:")
        lines += [f"      - {json.dumps(words)}: {page}" for words, page in pages]
    (folder / "mkdocs.yml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
