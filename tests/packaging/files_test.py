#!/usr/bin/env python3
"""Tests that package descriptions agree with the project, and that the action's script keeps ounce's exit code.

usage: files_test.py PROJECT
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
import unittest
import zipfile

PROJECT = pathlib.Path(sys.argv.pop(1)).resolve()
VERSION = re.search(r"project\(ounce VERSION ([0-9.]+)", (PROJECT / "CMakeLists.txt").read_text()).group(1)


class Descriptions(unittest.TestCase):
    def test_every_file_has_the_version_of_the_project(self):
        recipe = (PROJECT / "packaging" / "conda" / "recipe.yaml").read_text()
        self.assertEqual(re.search(r'version: "([0-9.]+)"', recipe).group(1), VERSION)
        described = tomllib.loads((PROJECT / "pyproject.toml").read_text())
        read = described["tool"]["scikit-build"]["metadata"]["version"]
        self.assertEqual(re.search(read["regex"], (PROJECT / read["input"]).read_text()).group("value"), VERSION)

    def test_the_distribution_has_one_name_everywhere(self):
        # `ounce` on PyPI is an unrelated project and must not be installed.
        self.assertEqual(tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["name"], "ounce-ml")
        self.assertIn("    default: ounce-ml\n", (PROJECT / "action.yml").read_text())
        places = ["action.yml", ".pre-commit-hooks.yaml", "Dockerfile", "README.md", "packaging/test.sh", "packaging/package.sh"]
        pages = [str(path.relative_to(PROJECT)) for path in (PROJECT / "docs").rglob("*.md")]
        for name in places + pages:
            installed = re.findall(r"pip install ((?:--?[\w-]+ )*)(ounce[\w.-]*)", (PROJECT / name).read_text())
            self.assertEqual([what for _, what in installed if not re.match("ounce[-_]ml", what)], [], name)

    def test_hooks_do_not_compile_the_sources(self):
        hooks = (PROJECT / ".pre-commit-hooks.yaml").read_text()
        self.assertEqual(set(re.findall(r"^  language: (\w+)", hooks, re.M)), {"system"})

    def test_every_target_that_packages_name_is_one(self):
        targets = set(re.findall(r"add_(?:library|executable|custom_target)\((\w+)", "".join(
            path.read_text() for folder in ("src", "cmake") for path in (PROJECT / folder).rglob("*") if path.name == "CMakeLists.txt" or path.suffix == ".cmake")))
        described = tomllib.loads((PROJECT / "pyproject.toml").read_text())
        self.assertLessEqual(set(described["tool"]["scikit-build"]["build"]["targets"]), targets)
        self.assertLessEqual(set(re.findall(r"ounce_\w+", (PROJECT / "packaging" / "portable.sh").read_text())), targets)

    def test_every_library_that_is_linked_in_has_a_row_and_a_licence(self):
        materials = (PROJECT / "packaging" / "materials.py").read_text()
        rows = (PROJECT / "docs" / "explanation" / "dependencies.md").read_text().split("## Loaded at run time")[0]
        packages = set(re.findall(r"^\| [^|]+ \| `([^`]+)` ", rows, re.M))
        named = re.findall(r'Library\("([^"]+)", "[^"]+", "[^"]+"', materials)
        self.assertEqual(len(packages), len(named), f"{sorted(packages)} in docs/explanation/dependencies.md, {sorted(named)} in materials.py")


def steps():
    """The scripts of action.yml: install, run."""
    text = (PROJECT / "action.yml").read_text()
    return [textwrap.dedent(re.match(r"(?: {8}.*\n|\n)+", rest).group()) for rest in re.split(r"^ {6}run: \|\n", text, flags=re.M)[1:]]


def run_step(script, folder, **environment):
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder,
                          env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment})


class Action(unittest.TestCase):
    """Tests the step `run` of action.yml, with a program instead of ounce that prints its arguments."""

    def run_commands(self, commands, **environment):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "ounce"
            program.write_text('#!/bin/sh\nprintf "[%s]" "$@"; echo\ncat\nexit "$1"\n')
            program.chmod(0o755)
            return run_step(steps()[1], folder, PATH=f"{folder}:{os.environ['PATH']}", COMMANDS=commands, **environment)

    def test_each_line_is_a_command_whose_words_are_a_shells(self):
        done = self.run_commands("0 'two words' $HOME `id`\n\n0 last\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[0][two words][$HOME][`id`]\n", done.stdout)
        self.assertIn("[0][last]\n", done.stdout)

    def test_the_first_that_fails_ends_the_step_with_its_exit_code(self):
        done = self.run_commands("3 model.onnx\n0 never\n")
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("never]", done.stdout)

    def test_the_file_of_the_step_summary_is_the_only_expansion(self):
        done = self.run_commands("0 --markdown $GITHUB_STEP_SUMMARY $HOME\n", GITHUB_STEP_SUMMARY="/tmp/a summary")
        self.assertIn("[0][--markdown][/tmp/a summary][$HOME]\n", done.stdout, done.stderr)

    def test_a_command_that_reads_its_input_does_not_take_the_commands_after_it(self):
        done = self.run_commands("0 first\n0 second\n")  # the program copies its standard input
        self.assertEqual(done.stdout, "+ ounce 0 first\n[0][first]\n+ ounce 0 second\n[0][second]\n")


@unittest.skipUnless(shutil.which("pre-commit") and shutil.which("git"), "pre-commit is not installed (./setup test)")
class Hooks(unittest.TestCase):
    """Runs the hooks in pre-commit, with a program instead of ounce that fails for broken.onnx."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        program = self.folder / "bin" / "ounce"
        program.parent.mkdir()
        program.write_text('#!/bin/sh\necho "ounce $*"\ncase "$*" in *broken.onnx*) exit 2 ;; esac\n')
        program.chmod(0o755)
        # The hooks alone, as a repository at a commit.
        hooks = self.folder / "hooks"
        hooks.mkdir()
        shutil.copy(PROJECT / ".pre-commit-hooks.yaml", hooks)
        commit = self.commit(hooks)
        self.models = self.folder / "models"
        self.models.mkdir()
        (self.models / ".pre-commit-config.yaml").write_text(
            f"repos:\n- repo: {hooks}\n  rev: {commit}\n  hooks:\n  - id: ounce-inspect\n  - id: ounce-check\n    args: [--target, android-arm64@1.22.0]\n")

    def git(self, folder, *words):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", folder, *words], check=True, capture_output=True, text=True).stdout

    def commit(self, folder):
        self.git(folder, "init", "-q")
        self.git(folder, "add", "-A")
        self.git(folder, "commit", "-q", "-m", "files")
        return self.git(folder, "rev-parse", "HEAD").strip()

    def run_hooks(self, **files):
        for name, content in files.items():
            (self.models / name.replace("_", ".")).write_bytes(content)
        self.commit(self.models)
        environment = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder), "PRE_COMMIT_HOME": str(self.folder / "cache")}
        return subprocess.run(["pre-commit", "run", "--all-files", "--verbose"], cwd=self.models, env=environment, capture_output=True, text=True)

    def test_models_are_inspected_and_checked(self):
        done = self.run_hooks(good_onnx=b"\x08\x07\x00", small_tflite=b"\x1c\x00TFL3", notes_txt=b"\x00")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"ounce inspect (good\.onnx small\.tflite|small\.tflite good\.onnx)")
        self.assertIn("ounce check --target android-arm64@1.22.0 ", done.stdout)
        self.assertNotIn("notes.txt", done.stdout)

    def test_a_bad_model_refuses_the_commit(self):
        done = self.run_hooks(broken_onnx=b"\x08\x07\x00")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)


def make_wheel(folder, name, files):
    """A wheel with these files, and the least metadata that pip accepts."""
    info = f"{name}-1.0.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))


class HostileRepository(unittest.TestCase):
    """Tests both steps of action.yml unchanged, in a folder whose Python files have the names of standard modules."""

    MODULES = ("shlex", "venv", "logging", "os", "sys", "pip", "ensurepip", "subprocess", "types", "re", "sitecustomize", "usercustomize", "ounce")

    @unittest.skipIf(subprocess.run(["python3", "-I", "-c", "import ensurepip, venv"], capture_output=True).returncode != 0, "needs python3-venv")
    def test_no_python_file_of_the_repository_is_run(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            repository, wheels, home = folder / "repository", folder / "wheels", folder / "temp"
            for made in (repository, wheels, home):
                made.mkdir()
            for module in self.MODULES:
                (repository / f"{module}.py").write_text(f"import pathlib\npathlib.Path({str(folder / 'ran')!r}).open('a').write('{module} ')\n")
            program = "import sys\n\ndef main():\n    print('ounce was given', sys.argv[1:])\n"
            make_wheel(wheels, "ounce_ml", {"ounce/__init__.py": "", "ounce/__main__.py": program,
                                            "ounce_ml-1.0.dist-info/entry_points.txt": "[console_scripts]\nounce = ounce.__main__:main\n"})
            make_wheel(wheels, "onnxruntime", {"onnxruntime/__init__.py": ""})
            install, run = steps()
            environment = {"RUNNER_TEMP": str(home), "GITHUB_PATH": str(folder / "paths"), "PACKAGE": "ounce-ml", "ONNXRUNTIME": "",
                           "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "COMMANDS": "inspect model.onnx\n"}
            done = run_step(install, repository, **environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            paths = (folder / "paths").read_text().split()
            done = run_step(run, repository, **environment, PATH=":".join([*paths, os.environ["PATH"]]))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("ounce was given ['inspect', 'model.onnx']", done.stdout)
            self.assertFalse((folder / "ran").exists(), (folder / "ran").exists() and (folder / "ran").read_text())


if __name__ == "__main__":
    unittest.main()
