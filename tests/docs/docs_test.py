#!/usr/bin/env python3
"""Runs the commands in pages of the documentation.

usage: docs_test.py --ounce PROGRAM --example FOLDER PAGE.md…     exit 1: a command has another exit code than the page says

The commands of a page are the lines that begin with "ounce" or "$ ounce" in code blocks without a language. They run in order, in a
folder with these files: model.onnx (the embedded example with its preprocessing metadata), model.w8.onnx and model.int8.onnx if the
page names them, model.tflite and other.tflite (the example without metadata), calib.npz, val.npz with labels, and the files of
examples/commands under their own names. A block after <!-- not run: reason --> is skipped. The commands of a block after
<!-- exits N --> must end with exit code N, those of other blocks with 0.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:<!-- (not run: [^>]*|exits \d+) -->\n)?^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def commands(text):
    """The commands of a page, each with the exit code that it must have."""
    for match in BLOCK.finditer(text):
        remark, language, body = match.groups()
        if language or (remark or "").startswith("not run"):
            continue
        code = int(remark.split()[1]) if remark else 0
        for line in body.replace("\\\n", " ").splitlines():
            line = line.strip().removeprefix("$ ")
            if line.startswith("ounce "):
                yield line.split(" #")[0].strip(), code


def prepare(ounce, example, folder, text):
    for name in ("commands.onnx", "commands_calib.npz", "commands_val.npz"):
        (folder / name).write_bytes((example / name).read_bytes())
        (folder / name.replace("commands_", "")).write_bytes((example / name).read_bytes())
    for name in ("commands.tflite", "model.tflite", "other.tflite"):
        (folder / name).write_bytes((example / "commands.tflite").read_bytes())

    def run(*words):
        subprocess.run([ounce, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    run("contract", "set", "commands.onnx", "-o", "model.onnx", "--rate", "8000", "--length", "8000", "--rescale", "1/32768")
    if "model.w8.onnx" in text:
        run("quantize", "model.onnx", "-o", "model.w8.onnx")
    if "model.int8.onnx" in text:
        run("quantize", "model.onnx", "--to", "int8", "--data", "calib.npz", "--no-search", "--on", "none", "-o", "model.int8.onnx")


def check_commands(ounce, example, page, text):
    wanted = list(commands(text))
    if not wanted:
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ounce-docs-") as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "ounce").symlink_to(ounce)
        work = folder / "work"
        work.mkdir()
        prepare(ounce, example, work, text)
        environment = {**os.environ, "PATH": f"{folder / 'bin'}:/usr/bin:/bin", "OUNCE_CACHE": str(folder / "cache"), "OUNCE_ON": "none"}
        for line, code in wanted:
            done = subprocess.run(["sh", "-c", line], cwd=work, env=environment, capture_output=True, text=True, timeout=600)
            if done.returncode != code:
                failed += 1
                print(f"{page.name}: exit {done.returncode} instead of {code}: {line}\n{done.stderr[-800:]}")
    return failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--example", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("page", nargs="+", type=lambda path: pathlib.Path(path).resolve())
    arguments = parser.parse_args()
    failed = 0
    for page in arguments.page:
        print(page.name, flush=True)
        failed += check_commands(arguments.ounce, arguments.example, page, page.read_text())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
