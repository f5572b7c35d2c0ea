#!/usr/bin/env python3
"""Tests check_messages.py on small source trees."""

import pathlib
import tempfile
import unittest

import check_messages

CATALOG = '''constexpr Message kMessages[] = {
    {"OUN001", "Kind", "", "C.", "C.", "F."},
    {"OUN101", "Samples", "calibrated on * only|a few samples", "C.", "C.", "F."},
%s};
'''
NOTES = '''void f() {
  notes_.push_back(fmt::format("calibrated on {} only; use more", n));
  result.notes.emplace_back("a few samples");
}
'''


class Violations(unittest.TestCase):
    def violations(self, notes=NOTES, more=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src/report").mkdir(parents=True)
            (root / check_messages.CATALOG).write_text(CATALOG % more)
            (root / "src/a.cpp").write_text(notes)
            return list(check_messages.violations(root))

    def test_notes_with_rows_pass(self):
        self.assertEqual(self.violations(), [])

    def test_a_note_without_a_row_is_found(self):
        found = self.violations(NOTES + 'void g() { q.result.notes.push_back("a new note"); }\n')
        self.assertEqual(len(found), 1, found)
        self.assertIn("src/a.cpp:5: no row of", found[0])

    def test_a_row_without_a_message_is_found(self):
        found = self.violations(more='    {"OUN102", "Gone", "an unused text", "C.", "C.", "F."},\n')
        self.assertEqual(len(found), 1, found)
        self.assertIn("no message in the sources says 'an unused text'", found[0])

    def test_ids_are_unique(self):
        found = self.violations(more='    {"OUN101", "Again", "a few samples", "C.", "C.", "F."},\n')
        self.assertIn("OUN101 follows OUN101", found[0])

    def test_an_end_of_a_sentence_is_no_note(self):
        self.assertEqual(self.violations(NOTES + 'void g() { notes.push_back(sentence + "; and more"); }\n'), [])


if __name__ == "__main__":
    unittest.main()
