#!/usr/bin/env python3
"""What packages are described by agrees with the project, and the action's script keeps ounce's exit code.

usage: files_test.py PROJECT
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
import unittest

PROJECT = pathlib.Path(sys.argv.pop(1)).resolve()
VERSION = re.search(r"project\(ounce VERSION ([0-9.]+)", (PROJECT / "CMakeLists.txt").read_text()).group(1)


class Descriptions(unittest.TestCase):
    def test_every_file_has_the_version_of_the_project(self):
        recipe = (PROJECT / "packaging" / "conda" / "recipe.yaml").read_text()
        self.assertEqual(re.search(r'version: "([0-9.]+)"', recipe).group(1), VERSION)
        described = tomllib.loads((PROJECT / "pyproject.toml").read_text())
        read = described["tool"]["scikit-build"]["metadata"]["version"]
        self.assertEqual(re.search(read["regex"], (PROJECT / read["input"]).read_text()).group("value"), VERSION)

    def test_every_target_that_packages_name_is_one(self):
        targets = set(re.findall(r"add_(?:library|executable|custom_target)\((\w+)", "".join(
            path.read_text() for folder in ("src", "cmake") for path in (PROJECT / folder).rglob("*") if path.name == "CMakeLists.txt" or path.suffix == ".cmake")))
        described = tomllib.loads((PROJECT / "pyproject.toml").read_text())
        self.assertLessEqual(set(described["tool"]["scikit-build"]["build"]["targets"]), targets)
        self.assertLessEqual(set(re.findall(r"ounce_\w+", (PROJECT / "packaging" / "portable.sh").read_text())), targets)

    def test_every_library_that_is_linked_in_has_a_row_and_a_licence(self):
        materials = (PROJECT / "packaging" / "materials.py").read_text()
        rows = (PROJECT / "docs" / "dependencies.md").read_text().split("## Loaded at run time")[0]
        packages = set(re.findall(r"^\| [^|]+ \| `([^`]+)` ", rows, re.M))
        named = re.findall(r'Library\("([^"]+)", "[^"]+", "[^"]+"', materials)
        self.assertEqual(len(packages), len(named), f"{sorted(packages)} in docs/dependencies.md, {sorted(named)} in materials.py")


class Action(unittest.TestCase):
    """The step `run` of action.yml, with a program in the place of ounce that says what it was called with."""

    def run_step(self, commands):
        text = (PROJECT / "action.yml").read_text()
        script = textwrap.dedent(text.rsplit("run: |\n", 1)[1])
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "ounce"
            program.write_text('#!/bin/sh\nprintf "[%s]" "$@"; echo\nexit "$1"\n')
            program.chmod(0o755)
            return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  env={"PATH": f"{folder}:{os.environ['PATH']}", "COMMANDS": commands})

    def test_each_line_is_a_command_whose_words_are_a_shells(self):
        done = self.run_step("0 'two words' $HOME `id`\n\n0 last\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[0][two words][$HOME][`id`]\n", done.stdout)
        self.assertIn("[0][last]\n", done.stdout)

    def test_the_first_that_fails_ends_the_step_with_its_exit_code(self):
        done = self.run_step("3 model.onnx\n0 never\n")
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("never]", done.stdout)


if __name__ == "__main__":
    unittest.main()
