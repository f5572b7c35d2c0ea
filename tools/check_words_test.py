#!/usr/bin/env python3
"""Tests of tools/check_words.py on small trees."""

import pathlib
import tempfile
import unittest

import check_words

TREE = {
    "include/ounce/a.h": "struct A { int data, format; };\nvoid calibrate();\n",
    "src/verbs/a.cpp": 'app.add_option("-d,--data", a); app.add_option("--to", b);\n',
    check_words.TABLE: '{"data", "--data"}, {"format", "--to"}, {"calibrate()", "\'ounce calibrate\'"},\n',
}


def complaints(files):
    """The findings of the check in a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in (TREE | files).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return list(check_words.violations(root))


class CheckWordsTest(unittest.TestCase):
    def assert_accepted(self, path, text):
        self.assertEqual(complaints({path: text}), [])

    def assert_refused(self, path, text, message):
        found = complaints({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_accepts_fields_of_the_table(self):
        self.assert_accepted("src/quantize/a.cpp", 'f("give `data`"); f("`format=int8` or `format={}`, `calibrate()`");\n')

    def test_refuses_an_option_and_names_the_line(self):
        self.assert_refused("src/quantize/a.cpp", '\nf("give --data");\n', "src/quantize/a.cpp:2: ")

    def test_refuses_an_option_that_is_cut_in_two(self):
        self.assert_refused("src/quantize/a.cpp", 'f("give -"\n  "-data");\n', "--data")

    def test_refuses_a_field_that_nobody_knows(self):
        self.assert_refused("src/quantize/a.cpp", 'f("give `date`");\n', "`date`")

    def test_refuses_a_backtick_alone(self):
        self.assert_refused("src/quantize/a.cpp", 'f("`format=" + name);\n', "unpaired")

    def test_comments_may_name_options(self):
        self.assert_accepted("src/quantize/a.cpp", '// "--data"\n/* "--data" */ f("x");  // `date\n')

    def test_quotes_in_characters_and_numbers_are_none(self):
        self.assert_accepted("src/quantize/a.cpp", "f('\"', 10'000, '\\'', \"x\", 1'0, '\"');\n// --data\n")

    def test_raw_strings_are_read(self):
        self.assert_refused("src/quantize/a.cpp", 'f(R"x(a "quoted" --data)x");\n', "--data")

    def test_tests_and_what_is_above_the_library_may_name_options(self):
        for path in ("src/quantize/a_test.cpp", "src/report/a.cpp", "src/runner/a.cpp"):
            self.assert_accepted(path, 'f("--data");\n')

    def test_command_lines_are_written_in_one_place(self):
        for path in check_words.WRITES_COMMANDS:
            self.assert_accepted(path, 'f("ounce quantize --to int8");\n')

    def test_the_table_speaks_of_fields_and_options_that_there_are(self):
        self.assert_refused(check_words.TABLE, '{"size", "--to"},\n', "include/ounce has no 'size'")
        self.assert_refused(check_words.TABLE, '{"data", "--date"},\n', "the command line has no --date")


if __name__ == "__main__":
    unittest.main()
