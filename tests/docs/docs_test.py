#!/usr/bin/env python3
"""Every command of a page of the documentation, run.

usage: docs_test.py --ounce PROGRAM --example FOLDER [--links] PAGE.md…

A page's commands are the lines of its blocks without a language that begin with "ounce", with or without "$ " before it. They
run in their order, in a folder that holds what the pages speak of: model.onnx (the embedded example, with its contract),
model.tflite and other.tflite (the same without one), calib.npz, val.npz with labels, the files of examples/commands by their own names, and model.w8.onnx and model.int8.onnx. A block behind
<!-- not run: reason --> is left out, and one behind <!-- exits N --> must end with that code.

Links to other files of the repository must lead somewhere.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:<!-- (not run: [^>]*|exits \d+) -->\n)?^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#: ]+)(?:#[^)]*)?\)")


def commands(text):
    """The commands of a page, each with the exit code that it must have."""
    for match in BLOCK.finditer(text):
        remark, language, body = match.groups()
        if language or (remark or "").startswith("not run"):
            continue
        code = int(remark.split()[1]) if remark else 0
        for line in body.replace("\\\n", " ").splitlines():
            line = line.removeprefix("$ ")
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


def check_links(page, text):
    missing = [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    for link in missing:
        print(f"{page.name}: there is no {link}")
    return len(missing)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--example", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--links", action="store_true", help="look at links alone")
    parser.add_argument("page", nargs="+", type=lambda path: pathlib.Path(path).resolve())
    arguments = parser.parse_args()
    failed = 0
    for page in arguments.page:
        text = page.read_text()
        failed += check_links(page, text)
        if not arguments.links:
            print(page.name, flush=True)
            failed += check_commands(arguments.ounce, arguments.example, page, text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
