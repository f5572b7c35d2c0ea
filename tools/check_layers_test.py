#!/usr/bin/env python3
"""Holds tools/check_layers.py to its promises, on small trees made for each."""

import pathlib
import tempfile
import unittest

import check_layers


def complaints(files):
    """What the check says about a tree of {path: text}."""
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
        self.assert_accepted("src/graph/a.cpp", '#include "graph/a.h"\n#include "onnx/b.h"\n')

    def test_may_use_goes_down_through_other_folders(self):
        self.assert_accepted("src/graph/a.cpp", '#include "base/c.h"\n')

    def test_refuses_higher_folder_and_names_the_line(self):
        self.assert_refused("src/io/a.cpp", '#include <vector>\n#include "graph/b.h"\n',
                            "src/io/a.cpp:2: ")

    def test_refuses_a_folder_with_no_way_to_it(self):
        self.assert_refused("src/kernels/a.cpp", '#include "base/b.h"\n', "kernels may not use base")

    def test_sees_includes_with_odd_spacing_and_angle_brackets(self):
        self.assert_refused("src/base/a.h", '  #  include <io/b.h>\n', "base may not use io")

    def test_leaves_tests_alone(self):
        self.assert_accepted("src/base/a_test.cpp", '#include "measure/b.h"\n')

    def test_every_folder_may_include_the_words_that_verbs_share(self):
        self.assert_accepted("src/base/a.h", "#include <ounce/error.h>\n")
        self.assert_accepted("src/plan/a.h", "#include <ounce/recipe.h>\n")

    def test_a_verbs_header_is_for_those_above(self):
        self.assert_refused("src/plan/a.h", "#include <ounce/quantize.h>\n", "a verb's header")
        self.assert_refused("src/runtime/a.cpp", "#include <ounce/tune.h>\n", "a verb's header")
        self.assert_accepted("src/make/a.h", "#include <ounce/quantize.h>\n")
        self.assert_accepted("src/report/a.h", "#include <ounce/tune.h>\n")

    def test_knows_other_peoples_headers(self):
        self.assert_accepted("src/kernels/a.cpp", '#include "hwy/highway.h"\n')

    def test_cli_may_use_report_and_base_but_no_station_of_the_data(self):
        self.assert_accepted("src/cli/a.cpp", '#include "report/b.h"\n#include "base/b.h"\n')
        self.assert_refused("src/cli/a.cpp", '#include "io/b.h"\n', "cli may not use io")
        self.assert_accepted("src/verbs/a.cpp", '#include "report/b.h"\n#include "base/b.h"\n')
        self.assert_refused("src/verbs/a.cpp", '#include "cli/b.h"\n', "verbs may not use cli")

    def test_nobody_includes_a_face_or_the_api(self):
        self.assert_refused("src/measure/a.cpp", '#include "api/b.h"\n', "may not use api")
        self.assert_refused("src/api/a.cpp", '#include "cli/b.h"\n', "may not use cli")

    def test_the_top_may_use_every_folder_below(self):
        below = [folder for folder in check_layers.MAY_USE if folder != "report"]
        every = "".join(f'#include "{folder}/a.h"\n' for folder in below)
        self.assert_accepted("src/api/a.cpp", every)
        self.assert_refused("src/api/a.cpp", '#include "report/b.h"\n', "may not use report")
        self.assert_refused("src/make/a.cpp", '#include "search/b.h"\n', "may not use search")

    def test_installed_headers_include_nothing_of_src(self):
        self.assert_refused("include/ounce/a.h", '#include "base/b.h"\n', "installed header")

    def test_only_runtime_includes_onnx_runtime(self):
        self.assert_accepted("src/runtime/a.cpp", "#include <onnxruntime_cxx_api.h>\n")
        self.assert_refused("src/measure/a.cpp", "#include <onnxruntime_cxx_api.h>\n", "only src/runtime")

    def test_refuses_a_name_without_folder(self):
        self.assert_refused("src/base/a.cpp", '#include "b.h"\n', "name it with its folder")

    def test_refuses_a_folder_that_is_not_in_the_table(self):
        self.assert_refused("src/helpers/a.cpp", "", "src/helpers has no line")


if __name__ == "__main__":
    unittest.main()
