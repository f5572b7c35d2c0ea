#!/usr/bin/env python3
"""Tests of tools/check_layers.py on small trees."""

import pathlib
import tempfile
import unittest

import check_layers


def complaints(files):
    """The findings of the check in a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return list(check_layers.violations(root))


class CheckLayersTest(unittest.TestCase):
    def assert_accepted(self, path, text):
        self.assertEqual(complaints({path: text}), [])

    def assert_refused(self, path, text, message):
        found = complaints({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_accepts_own_folder_and_lower_ones(self):
        self.assert_accepted("src/formats/onnx/graph/a.cpp",
                             '#include "formats/onnx/graph/a.h"\n#include "formats/onnx/file/b.h"\n')

    def test_may_use_goes_down_through_other_folders(self):
        self.assert_accepted("src/formats/onnx/graph/a.cpp", '#include "base/c.h"\n')

    def test_refuses_higher_folder_and_names_the_line(self):
        self.assert_refused("src/io/a.cpp", '#include <vector>\n#include "formats/onnx/graph/b.h"\n', "src/io/a.cpp:2: ")

    def test_refuses_a_folder_with_no_way_to_it(self):
        self.assert_refused("src/kernels/a.cpp", '#include "base/b.h"\n', "kernels may not use base")

    def test_sub_folders_are_layers_of_their_own(self):
        self.assert_accepted("src/evaluate/compare/a.cpp", '#include "evaluate/metrics/b.h"\n')
        self.assert_refused("src/evaluate/metrics/a.cpp", '#include "evaluate/compare/b.h"\n',
                            "evaluate/metrics may not use evaluate/compare")

    def test_sees_includes_with_odd_spacing_and_angle_brackets(self):
        self.assert_refused("src/base/a.h", '  #  include <io/b.h>\n', "base may not use io")

    def test_leaves_tests_alone(self):
        self.assert_accepted("src/base/a_test.cpp", '#include "evaluate/b.h"\n')

    def test_knows_headers_of_other_libraries(self):
        self.assert_accepted("src/kernels/a.cpp", '#include "hwy/highway.h"\n')

    def test_verbs_that_know_no_format_name_none(self):
        self.assert_refused("src/evaluate/verify.cpp", "int a;\nonnx::Model read();\n", "src/evaluate/verify.cpp:2: onnx::")
        self.assert_refused("src/inspect/diff.cpp", '#include "formats/onnx/file/b.h"\n', "models of any format")
        self.assert_refused("src/quantize/statement.cpp", "graph::Index index;\n", "graph::")
        self.assert_accepted("src/inspect/check.cpp", "onnx::Model read();\n")
        self.assert_accepted("src/quantize/decide.cpp", "onnx::Model read();\n")
        self.assert_accepted("src/inspect/diff.cpp", "// as onnx::Model has it\n")

    def test_plans_of_weights_know_no_format(self):
        self.assert_refused("src/plan/weights/a.cpp", "onnx::Tensor* tensor;\n", "onnx::")
        self.assert_refused("src/plan/weights/a.cpp", '#include "formats/open.h"\n', "plan/weights may not use formats")

    def test_faces_may_use_only_their_row(self):
        self.assert_accepted("src/cli/a.cpp", '#include "report/b.h"\n#include "base/b.h"\n')
        self.assert_refused("src/cli/a.cpp", '#include "quantize/b.h"\n', "cli may not use quantize")
        self.assert_accepted("src/verbs/a.cpp", '#include "report/b.h"\n#include "base/b.h"\n')
        self.assert_refused("src/verbs/a.cpp", '#include "cli/b.h"\n', "verbs may not use cli")
        self.assert_refused("src/evaluate/a.cpp", '#include "cli/b.h"\n', "may not use cli")

    def test_a_call_is_a_use_of_the_folder_that_defines_the_function(self):
        header = {"include/ounce/model.h": "namespace ounce {\nCheckReport check(int model);\n}\n"}
        defined = {"src/inspect/check.cpp": "#include <ounce/model.h>\nnamespace ounce {\nCheckReport check(int model) {}\n}\n"}
        call = "#include <ounce/model.h>\nnamespace ounce {\nvoid f() {\n  const auto report = check(1);\n}\n}\n"
        self.assertEqual(complaints({**header, **defined, "src/search/tune/a.cpp": call}), [])
        found = complaints({**header, **defined, "src/evaluate/a.cpp": call})
        self.assertEqual(len(found), 1, found)
        self.assertIn("src/evaluate/a.cpp:4: check() is defined in src/inspect", found[0])

    def test_a_function_of_the_file_itself_is_no_call_upward(self):
        header = {"include/ounce/model.h": "namespace ounce {\nCheckReport check(int model);\n}\n"}
        defined = {"src/inspect/check.cpp": "#include <ounce/model.h>\nnamespace ounce {\nCheckReport check(int model) {}\n}\n"}
        own = "#include <ounce/model.h>\nnamespace ounce::evaluate {\nint check(int model) {}\nint f() {\n  return check(1);\n}\n}\n"
        self.assertEqual(complaints({**header, **defined, "src/evaluate/a.cpp": own}), [])

    def test_refuses_headers_that_include_themselves_through_others(self):
        found = complaints({"src/base/a.h": '#include "base/b.h"\n', "src/base/b.h": '#include "base/a.h"\n'})
        self.assertEqual(len(found), 1, found)
        self.assertIn("base/a.h -> base/b.h -> base/a.h", found[0])

    def test_installed_headers_include_nothing_of_src(self):
        self.assert_refused("include/ounce/a.h", '#include "base/b.h"\n', "installed header")

    def test_only_runtime_includes_onnx_runtime(self):
        self.assert_accepted("src/runtime/ort/a.cpp", "#include <onnxruntime_c_api.h>\n")
        self.assert_refused("src/evaluate/a.cpp", "#include <onnxruntime_c_api.h>\n", "only src/runtime")

    def test_refuses_a_name_without_folder(self):
        self.assert_refused("src/base/a.cpp", '#include "b.h"\n', "name it with its folder")

    def test_refuses_a_folder_that_is_not_in_the_table(self):
        self.assert_refused("src/helpers/a.cpp", "", "src/helpers has no line")


if __name__ == "__main__":
    unittest.main()
