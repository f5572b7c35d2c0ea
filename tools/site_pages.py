#!/usr/bin/env python3
"""Puts the pages of the documentation together for MkDocs: README as the first one, guides before the rest.

usage: site_pages.py ROOT FOLDER     writes FOLDER/mkdocs.yml and FOLDER/docs

Links that lead out of the documentation (sources, headers) become plain text: a site has no sources.
"""

import pathlib
import re
import shutil
import sys

NAV = [
    ("Start", ["index.md", "install.md", "which-method.md", "measured.md", "promises.md", "privacy.md"]),
    ("Guides", ["guides/android.md", "guides/ios.md", "guides/server.md", "guides/browser.md", "guides/language-model.md", "guides/qat.md",
                "guides/slower.md", "guides/worse.md", "guides/crashes.md", "migration.md"]),
    ("Formats", ["weight-storage.md", "few-bits.md", "integer.md", "fp16.md", "tflite.md", "coreml.md"]),
    ("Verbs", ["advise.md", "bench.md", "calibrate.md", "check.md", "contract.md", "diff.md", "prove.md", "publish.md", "report.md",
               "sensitivity.md", "tune.md", "verify.md"]),
    ("Reference", ["cli.md", "interface.md", "json.md", "python.md", "c-api.md", "failure-modes.md"]),
    ("Measurements", ["lab/integer.md", "lab/few-bits.md", "lab/foreign.md"]),
]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)]+)\)")


def with_links_inside(text, page, files):
    """Links of a page that lead to other pages or to pictures stay; others become their words."""
    def link(match):
        mark, words, target = match.groups()
        path, _, place = target.partition("#")
        if not path or ":" in path:
            return match.group(0)
        found = (page.parent / path).as_posix()
        parts = []
        for part in found.split("/"):
            parts = parts[:-1] if part == ".." else parts if part == "." else [*parts, part]
        return match.group(0) if "/".join(parts) in files else words
    return LINK.sub(link, text)


def main(root, folder):
    docs = folder / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "docs", docs)
    readme = (root / "README.md").read_text().replace("](docs/", "](").replace('src="docs/', 'src="')
    (docs / "index.md").write_text(readme)
    files = {path.relative_to(docs).as_posix() for path in docs.rglob("*") if path.is_file()}
    for page in docs.rglob("*.md"):
        relative = page.relative_to(docs)
        page.write_text(with_links_inside(page.read_text(), relative, files))
    listed = {page for _, pages in NAV for page in pages}
    rest = sorted(name for name in files if name.endswith(".md") and name not in listed)
    lines = ["site_name: Ounce", "site_description: ONNX models made small and fast, with proof that they still work", "docs_dir: docs",
             "theme:\n  name: readthedocs\n  highlightjs: false", "plugins: []", "nav:"]
    for title, pages in [*NAV, ("More", rest)]:
        lines.append(f"  - {title}:")
        lines += [f"      - {page}" for page in pages if page in files]
    (folder / "mkdocs.yml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
