#!/usr/bin/env python3
"""Tests the report of the demo without a browser: self-contained, small, complete without scripts, safe with hostile names.

usage: page_test.py --ounce PROGRAM --example FOLDER
"""

import argparse
import base64
import hashlib
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from make_runs import make, runs

MOST_BYTES = 500_000
MOST_NAMES = 30_000_000  # bytes of names in a document
VOID = {"meta"}
HOSTILE = ["</script><script>document.title='owned'</script>", "\"><img src=x onerror=\"document.title='owned'\">", "' onmouseover='x",
           "\u202eevil\u2066", "\x01\x1b[31m\n", "<!--", "&lt;", "]]>", "x" * 1_000_000]


class Tree(html.parser.HTMLParser):
    """Collects elements with their attributes and texts, and reports invalid nesting."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.problems, self.texts = [], [], [], {}
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"never closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-3:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


failures = []


def check(holds, what):
    if not holds:
        failures.append(what)


def check_page(text, where):
    tree = Tree(text)
    check(not tree.problems, f"{where}: {tree.problems[:3]}")
    for tag, attributes in tree.elements:
        for name, value in attributes.items():
            check(not name.startswith("on"), f"{where}: <{tag} {name}>")
            if name in ("src", "href", "action", "data", "poster"):
                check(value.startswith(("data:image/png;base64,", "#")), f"{where}: <{tag} {name}={value[:40]}>")
            check(name != "style", f"{where}: the policy forbids style attributes: <{tag}>")
    scripts = [attributes for tag, attributes in tree.elements if tag == "script"]
    check(scripts == [{"type": "application/json", "id": "data"}, {}], f"{where}: not exactly the data and one script: {scripts}")
    policy = next(a["content"] for t, a in tree.elements if t == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    for code in (script, "".join(tree.texts.get("style", []))):
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        check(f"'sha256-{digest}'" in policy, f"{where}: the policy does not allow the page's own style or script")
    check("default-src 'none'" in policy, f"{where}: the policy allows requests")
    check(not re.search(r"url\(|@import|https?://", text.replace(data, "")), f"{where}: has an external reference")
    check(not re.search(r"(inner|outer)HTML|insertAdjacent|document\.write|\beval\(|new Function|DOMParser", script), f"{where}: the script makes markup")
    ids = [attributes["id"] for _, attributes in tree.elements if "id" in attributes]
    check(len(ids) == len(set(ids)), f"{where}: an id occurs twice")
    for tag, attributes in tree.elements:
        if attributes.get("role") == "img":
            check(attributes.get("aria-label"), f"{where}: a chart without a label")
    return tree, json.loads(data)


def check_demo(folder, page):
    text = page.read_text()
    check(len(text.encode()) < MOST_BYTES, f"the page of the demo has {len(text.encode())} bytes")
    tree, data = check_page(text, "demo")
    verbs = [run["document"]["verb"] for run in data["runs"]]
    check(verbs == list(runs()), f"the page has {verbs}")
    check(text.index("<h1>") < text.index("<table"), "the verdict is not on top")
    rows = text.split("<tbody>")[1].split("</tbody>")[0]
    for verb in runs():
        check(f"<td>{verb}</td>" in rows, f"without scripts, there is no row of {verb}")
    check(re.search(r"% smaller</td>|→", rows), "without scripts, there is no size")
    check(text.count("<code>ounce verify model.onnx small.onnx") == 1, "without scripts, there is no command of verify")
    worst = data["runs"][verbs.index("verify")]["document"]["results"][0]["worst"]
    check(worst[0]["picture"]["wav"].startswith("UklGR"), "no sound of a sample")
    blocks = data["runs"][verbs.index("quantize")]["document"]["results"][0]["blocks"]
    check(len(blocks) > 5 and any(block["predecessors"] for block in blocks), "no blocks of the graph")


def hostile(value, name, places):
    """The document with all texts replaced, except those of the verb itself; with huge names only the first ones."""
    if isinstance(value, dict):
        return {key: one if key in ("verb", "schema_version") else hostile(one, name, places) for key, one in value.items()}
    if isinstance(value, list):
        return [hostile(one, name, places) for one in value[:20]]
    if not isinstance(value, str):
        return value
    places[0] -= len(name)
    return name if places[0] > 0 else "plain"


def check_hostile(ounce, folder):
    for verb in runs():
        document = json.loads((folder / f"{verb}.json").read_text())
        counts = set()
        for name in ["plain", *HOSTILE]:
            places = [MOST_NAMES]
            (folder / "hostile.json").write_text(json.dumps(hostile(document, name, places)))
            subprocess.run([ounce, "report", "hostile.json", "-o", "hostile.html"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            text = (folder / "hostile.html").read_text()
            tree, _ = check_page(text, f"{verb}, {name[:20]!r}")
            if places[0] > 0:  # all names are equal, so only markup could change the number of elements
                counts.add(len(tree.elements))
            check(not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", text), f"{verb}: control characters")
            check(len(text) < 20_000_000, f"{verb}: {len(text)} bytes")
        check(len(counts) == 1, f"{verb}: names change the elements of the page: {counts}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--example", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ounce-report-") as name:
        folder = pathlib.Path(name)
        check_demo(folder, make(arguments.ounce, arguments.example.resolve(), folder))
        check_hostile(arguments.ounce, folder)
    for failure in failures[:20]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
