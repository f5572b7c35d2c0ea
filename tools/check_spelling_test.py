#!/usr/bin/env python3
"""Tests of tools/check_spelling.py on small trees."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_spelling


def findings(tree):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {"tools/spelling.txt": "ane\n", **tree}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = check_spelling.main([str(root)])
        return code, printed.getvalue().splitlines()


class Spelling(unittest.TestCase):
    def test_finds_typing_errors_and_british_spelling(self):
        code, found = findings({"src/a.cpp": "int recieve;\n// It will recieve the value.\n", "docs/a.md": "The\ncolour `colour`.\n"})
        self.assertEqual(code, 1)
        self.assertEqual(found, ["docs/a.md:2: colour ==> color", "src/a.cpp:2: recieve ==> receive"])

    def test_ignores_names_of_code_and_known_words(self):
        self.assertEqual(findings({"src/a.cpp": "// recieve_all and kInf run on the ane.\n"}), (0, []))


if __name__ == "__main__":
    unittest.main()
