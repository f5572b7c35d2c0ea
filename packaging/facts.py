"""Facts shared by the packaging scripts: paths, names, and times that do not depend on the time of packaging."""

import os
import pathlib
import re
import subprocess
import tomllib

PROJECT = pathlib.Path(__file__).resolve().parent.parent
WORK = PROJECT / "build-package"
DIST = WORK / "dist"
SETTINGS = (PROJECT / "packaging" / "settings.sh").read_text()
GLIBC = re.search(r"^glibc=([0-9.]+)", SETTINGS, re.M).group(1)
DEBIAN = dict(re.findall(r"\[(\w+)\]=(\w+)", SETTINGS))  # x86_64: amd64
VERSION = re.search(r"project\(ounce VERSION ([0-9.]+)", (PROJECT / "CMakeLists.txt").read_text()).group(1)
PYTHON = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
WHEEL_NAME = re.sub(r"[-_.]+", "_", PYTHON["name"]).lower()  # as in the file names of wheels


def stage(architecture):
    folder = WORK / architecture / "stage"
    if not (folder / "bin" / "ounce").is_file():
        raise SystemExit(f"{folder} has no program: packaging/portable.sh {architecture} builds it")
    return folder


def timestamp():
    """The time of the newest commit, so that the same sources give the same packages, or SOURCE_DATE_EPOCH if it is set."""
    if said := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(said)
    done = subprocess.run(["git", "-C", PROJECT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else 315619200  # 1980, the earliest time in zip files
