#!/usr/bin/env python3
"""Tests of tools/api_reference.py on small sources."""

import ast
import unittest

import api_reference

HEADER = """// Makes things.
//
//   make(1);
#pragma once

#include <string>

namespace ounce {

// The kind of a thing, such as a*b.
enum class Kind {
  kOne,  // the first
};
template <>
struct NamesOf<Kind> {
  static constexpr int kAll[] = {1};
};

// Makes a thing.
int make(int size);
int make(const std::string& name);

class Thing {
 public:
  int size() const { return size_; }

 private:
  int size_;
};

}  // namespace ounce
"""


class Headers(unittest.TestCase):
    def setUp(self):
        self.found = api_reference.declarations(HEADER)

    def test_lists_declarations_with_their_comments(self):
        names = [api_reference.name_of(code) for _, code in self.found if code]
        self.assertEqual(names, ["Kind", "make()", "Thing"])
        self.assertIn("int make(const std::string& name);", self.found[2][1])

    def test_writes_comments_as_prose_and_examples_as_code(self):
        self.assertEqual(api_reference.prose(self.found[0][0], "cpp"), "Makes things.\n\n```cpp\nmake(1);\n```")
        self.assertEqual(api_reference.prose(self.found[1][0], "cpp"), "The kind of a thing, such as a\\*b.")

    def test_leaves_out_private_members(self):
        self.assertNotIn("size_;", api_reference.without_private(self.found[3][1]).split("{ return size_; }")[1])


class Functions(unittest.TestCase):
    def test_writes_signature_and_sections(self):
        source = 'def f(a: int, *, b: str = "x") -> bool:\n    """Do it.\n\n    Args:\n        a: a number\n            of things\n\n    Example:\n        f(1)\n    """\n'
        page = api_reference.python_function(ast.parse(source).body[0], "ounce.")
        self.assertIn("ounce.f(a: int, *, b: str = 'x') -> bool", page)
        self.assertIn("**Args**\n\n- `a`: a number\n  of things", page)
        self.assertIn("**Example**\n\n```python\nf(1)\n```", page)


if __name__ == "__main__":
    unittest.main()
