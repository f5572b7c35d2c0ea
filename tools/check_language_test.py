#!/usr/bin/env python3
"""Tests tools/check_language.py with its rules, on one small file per test."""

import pathlib
import re
import tempfile
import unittest

import check_language

RULES = pathlib.Path(__file__).with_name("language.txt").read_text(encoding="utf-8")


def findings(path, text, rules=RULES):
    """(line, hit, advice) of one file."""
    return list(check_language.Rules(rules).findings(pathlib.PurePosixPath(path), text))


class CheckLanguageTest(unittest.TestCase):
    def assert_accepted(self, path, text, **options):
        self.assertEqual(findings(path, text, **options), [])

    def assert_refused(self, path, text, line, hit, **options):
        self.assertEqual([found[:2] for found in findings(path, text, **options)], [(line, hit)])

    def test_reads_comments_and_strings_of_cpp(self):
        self.assert_refused("src/a.h", "int a;\n\n// Nobody reads it.\n", 3, "Nobody")
        self.assert_refused("src/a.h", "/* One line.\n * Nobody reads it. */\n", 2, "Nobody")
        self.assert_refused("src/a.cpp", 'f("nobody reads it");\n', 1, "nobody")
        self.assert_refused("src/a.cpp", 'f(R"x(\n"nobody" reads it)x");\n', 2, "nobody")

    def test_ignores_code(self):
        self.assert_accepted("src/a.cpp", "int nobody = '\"'; int so_many = 1'0'0;  // `nobody` and `whoever` are names\n")

    def test_ignores_strings_without_spaces(self):
        self.assert_accepted("src/a.cpp", '#include "nobody/colour.h"\nf("codes", "so_many");\n')

    def test_finds_phrases_that_are_wrapped(self):
        self.assert_refused("src/a.h", "// The node is in\n// floats here.\n", 1, "in floats")
        self.assert_refused("src/a.cpp", 'f("the node is in "\n  "floats here");\n', 1, "in floats")
        self.assert_accepted("src/a.cpp", "int a;  // it is in\nint b;  // floats of a node\n")
        self.assert_accepted("src/a.cpp", 'f("it is in", "floats of a node");\n')

    def test_reads_comments_docstrings_and_messages_of_python(self):
        self.assert_refused("python/a.py", "x = 1  # of ours\n", 1, "of ours")
        self.assert_refused("python/a.py", 'def f():\n    """Computes.\n\n    So many times.\n    """\n', 4, "So many")
        self.assert_refused("python/a.py", "print(f'so many {x}')\n", 1, "so many")
        self.assert_accepted("python/a.py", "nobody = {'so_many': 1}\nprint(f'a {nobody} b')\n")

    def test_reads_comments_of_scripts(self):
        for path in ("tools/a.sh", "cmake/a.cmake", "Makefile", "setup", "bench/a.toml"):
            self.assert_refused(path, "a=1\nb=1  # made anew\n", 2, "anew")
            self.assert_accepted(path, "anew=1\nb=a#anew\n")

    def test_reads_prose_of_documents(self):
        self.assert_refused("docs/a.md", "# Title\n\nOne line\nis made anew.\n", 4, "anew")
        self.assert_accepted("docs/a.md", "```\nanew\n```\n\n`anew` [link](beside.md) <https://a.b/anew>\n")

    def test_refuses_british_spelling(self):
        for word in ("optimised", "normalisation", "Colours", "behaviour", "neighbouring", "grey", "centred", "labelled", "licence",
                     "analysed", "catalogue", "artefacts"):
            self.assert_refused("docs/a.md", f"The {word} thing.\n", 1, word)
        for word in ("precise", "noise", "raised", "advertises", "cancelled", "analyses", "parameter", "dialogue", "four", "hour",
                     "promised", "otherwise", "premise", "greyhound"):
            self.assert_accepted("docs/a.md", f"The {word} thing.\n")

    def test_refuses_what_in_front_of_a_statement_alone(self):
        self.assert_refused("src/a.h", "// What the file says.\n", 1, "What the file says")
        self.assert_refused("src/a.h", "// One sentence. What follows is another\n", 1, "What follows is another")
        self.assert_refused("docs/a.md", "- One.\n- What the list says.\n", 2, "What the list says")
        self.assert_accepted("src/a.h", "// It says what it wants. What does it want?\n")

    def test_a_capital_letter_makes_a_rule_respect_case(self):
        self.assert_refused("src/a.h", "// Of a file this is the size.\n", 1, "Of a")
        self.assert_accepted("src/a.h", "int size;  // of a file\n")

    def test_refuses_sentences_that_continue_over_an_ellipsis(self):
        self.assert_refused("src/a.h", "int a;  // one part of it …\n", 1, "…")
        self.assert_refused("src/a.h", "int a;  // … and the other\n", 1, "… and")
        self.assert_accepted("src/a.h", "int a;  // c0, c1, …\nint b;  // from 0.5 … 0.95\n")

    def test_an_exempted_phrase_comes_before_the_rule(self):
        self.assert_accepted("src/a.h", "// A zero stands for padding.\n")
        self.assert_refused("src/a.h", "// A zero stands there.\n", 1, "stands")

    def test_sections_limit_rules(self):
        rules = "[comments]\none -> use 1\n[strings]\ntwo -> use 2\n[documents]\nthree -> use 3\n"
        self.assertEqual(findings("a.h", '// one two three\nf("one two three");\n', rules),
                         [(1, "one", "use 1"), (2, "two", "use 2")])
        self.assertEqual(findings("a.md", "one two three\n", rules), [(1, "three", "use 3")])

    def test_allows_lines_of_a_file(self):
        rules = "[all]\nanew -> use again\n[allowed]\nsrc/*.h: starts anew\n"
        self.assert_accepted("src/a.h", "// The count starts anew.\n", rules=rules)
        self.assert_refused("src/a.h", "// The count is anew.\n", 1, "anew", rules=rules)
        self.assert_refused("src/a.cpp", "// The count starts anew.\n", 1, "anew", rules=rules)

    def test_refuses_a_broken_rule_and_names_its_line(self):
        for rules in ("[all]\nanew\n", "[all]\n(a b) c -> d\n"):
            with self.assertRaisesRegex(ValueError, re.escape("tools/language.txt:2: ")):
                check_language.Rules(rules)

    def test_checks_a_tree_or_some_of_its_files(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {check_language.RULES: "[all]\nanew -> use again\n", "src/a.h": "// anew\n", "README.md": "anew\n",
                               "build/a.h": "// anew\n", "tests/cli/cases/a/b.sh": "# anew\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            self.assertEqual([str(found[0]) for found in check_language.findings(root)], ["README.md", "src/a.h"])
            self.assertEqual([str(found[0]) for found in check_language.findings(root, [root / "src"])], ["src/a.h"])


if __name__ == "__main__":
    unittest.main()
