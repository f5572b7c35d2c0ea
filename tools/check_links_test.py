#!/usr/bin/env python3
"""Tests of tools/check_links.py on small trees made for each."""

import pathlib
import tempfile
import unittest

import check_links

TREE = {
    "docs/README.md": "# Docs\n\n[one](guides/one.md) [two](two.md)\n",
    "docs/guides/one.md": "# One\n\n## A heading, with a comma\n",
    "docs/two.md": "# Two\n",
}


def complaints(files):
    """The violations in a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in (TREE | files).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return list(check_links.violations(root))


class CheckLinksTest(unittest.TestCase):
    def assert_accepted(self, path, text):
        self.assertEqual(complaints({path: text}), [])

    def assert_refused(self, path, text, message):
        found = complaints({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_accepts_pages_folders_headings_and_addresses(self):
        self.assert_accepted("README.md", "[a](docs/two.md) [b](docs/guides/one.md#a-heading-with-a-comma) [c](docs/) [d](https://x.org/y)\n")

    def test_refuses_a_missing_page_and_names_the_line(self):
        self.assert_refused("README.md", "\n[a](docs/three.md)\n", "README.md:2: there is no docs/three.md")

    def test_refuses_a_missing_heading(self):
        self.assert_refused("docs/two.md", "# Two\n[a](guides/one.md#another)\n", "docs/guides/one.md has no heading #another")

    def test_headings_of_the_same_page_count(self):
        self.assert_accepted("docs/two.md", "# Two\n[a](#two)\n")
        self.assert_refused("docs/two.md", "# Two\n[a](#three)\n", "#three")

    def test_refuses_a_missing_image(self):
        self.assert_refused("README.md", '<img src="docs/a.png" alt="">\n', "docs/a.png")

    def test_code_has_no_links_and_no_headings(self):
        self.assert_accepted("README.md", "`[a](b.md)`\n\n```\n[a](b.md)\n```\n")
        self.assert_refused("docs/two.md", "```\n# Two\n```\n[a](#two)\n", "#two")

    def test_refuses_a_comment_that_names_a_missing_page(self):
        self.assert_refused("src/a.cpp", "// see docs/three.md.\n", "src/a.cpp:1: there is no docs/three.md")
        self.assert_accepted("src/a.cpp", "// see docs/two.md.\n")

    def test_refuses_a_page_that_the_index_does_not_list(self):
        self.assert_refused("docs/guides/three.md", "# Three\n", "no link to guides/three.md")

    def test_this_project_has_no_broken_links(self):
        self.assertEqual(list(check_links.violations(pathlib.Path(__file__).parent.parent)), [])


if __name__ == "__main__":
    unittest.main()
