#!/usr/bin/env python3
"""Runs the commands in pages of the documentation.

usage: docs_test.py [--write] --ounce PROGRAM --examples FOLDER PAGE.md…
                    exit 1: a command has another exit code or prints something else than the page says

The commands of a page are the lines that begin with "ounce" or "$ ounce" in code blocks without a language. They run in order, in a
folder with these files: model.onnx (the embedded example with its preprocessing metadata), model.w8.onnx and model.int8.onnx if the
page names them, model.tflite and other.tflite (the example without metadata), calib.npz, val.npz with labels, and the files of
examples/commands and examples/digits under their own names. A block after <!-- not run: reason --> is skipped. The commands of a
block after <!-- exits N --> must end with exit code N, those of other blocks with 0.

Blocks of the language "console" also show what commands print: lines after "$ ounce" up to the next "$" are compared with the
output. Figures that depend on the machine (times, speeds) are not compared; other figures may differ by 5 %. A line "…" stands for
any number of lines. --write writes the output of this machine into these blocks, except into outputs with "…".
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:<!-- (not run: [^>]*|exits \d+) -->\n)?^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


SHOWN = re.compile(r"^\$ (ounce (?:[^\n]*\\\n)*[^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)

NUMBER = re.compile(r"\d+(?:\.\d+)?")
TIME = re.compile(r"\b\d+(?:\.\d+)? (?:ns|µs|ms|s|min)\b")
# Lines in which all figures, and lines of which all words depend on the machine.
MACHINE_FIGURES = re.compile(r"×|speed|CPU|(\(time\).*){3}")
MACHINE_LINES = re.compile(r"^ *(?:note: the machine is busy|note: Calibration:|note: .*kept in FP32|\d+ nodes run in INT8|runs in INT8:|runs in FP32:|on \w+: )")


@dataclasses.dataclass
class Command:
    line: str
    code: int  # the exit code that it must have
    shown: str | None = None  # the output in the page
    place: tuple[int, int] = (0, 0)  # of `shown` in the page


def commands(text):
    """The commands of a page."""
    for match in BLOCK.finditer(text):
        remark, language, body = match.groups()
        if language not in ("", "console") or (remark or "").startswith("not run"):
            continue
        code = int(remark.split()[1]) if remark else 0
        if language == "console":
            for shown in SHOWN.finditer(body):
                place = [match.start(3) + end for end in shown.span(2)]
                yield Command(shown[1].replace("\\\n", " ").split(" #")[0].strip(), code, shown[2], tuple(place))
            continue
        for line in body.replace("\\\n", " ").splitlines():
            line = line.strip().removeprefix("$ ")
            if line.startswith("ounce "):
                yield Command(line.split(" #")[0].strip(), code)


def same_line(shown, printed):
    """Whether two lines agree, except for times and other figures of the machine."""
    shown, printed = (TIME.sub("(time)", re.sub(r"-{3,}", "-", " ".join(line.split()))) for line in (shown, printed))
    if NUMBER.sub("0", shown) != NUMBER.sub("0", printed):
        return False
    if MACHINE_FIGURES.search(shown):
        return True
    for a, b in zip(NUMBER.finditer(shown), NUMBER.finditer(printed)):
        x, y = float(a[0]), float(b[0])
        if abs(x - y) > 0.05 * max(x, y):
            return False
    return True


def difference(shown, printed):
    """The first line that a page shows differently from what a command prints, or None."""
    expected, found = ([line.rstrip() for line in text.rstrip().splitlines() if not MACHINE_LINES.match(line)] for text in (shown, printed))
    at = 0
    skipping = False
    for line in expected:
        if line.strip() == "…":
            skipping = True
            continue
        while skipping and at < len(found) and not same_line(line, found[at]):
            at += 1
        skipping = False
        if at == len(found) or not same_line(line, found[at]):
            return f"the page says  {line}\nit printed     {found[at] if at < len(found) else '(nothing)'}"
        at += 1
    return None if skipping or at == len(found) else f"the page lacks {found[at]}"


def prepare(ounce, examples, folder, text):
    example = examples / "commands"
    for file in (examples / "digits").glob("digits*"):
        (folder / file.name).write_bytes(file.read_bytes())
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


def check_commands(ounce, examples, page, text, is_writing):
    wanted = list(commands(text))
    if not wanted:
        return 0
    failed = 0
    replaced = []
    with tempfile.TemporaryDirectory(prefix="ounce-docs-") as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "ounce").symlink_to(ounce)
        work = folder / "work"
        work.mkdir()
        prepare(ounce, examples, work, text)
        environment = {**os.environ, "PATH": f"{folder / 'bin'}:/usr/bin:/bin", "OUNCE_CACHE": str(folder / "cache"), "OUNCE_ON": "none"}
        for command in wanted:
            done = subprocess.run(["sh", "-c", command.line], cwd=work, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT if command.shown is not None else subprocess.PIPE, text=True, timeout=600)
            if done.returncode != command.code:
                failed += 1
                print(f"{page.name}: exit {done.returncode} instead of {command.code}: {command.line}\n{(done.stderr or done.stdout)[-800:]}")
            elif command.shown is not None:
                if is_writing and "…\n" not in command.shown:
                    replaced.append((command.place, "".join(line.rstrip() + "\n" for line in done.stdout.rstrip().splitlines() if "the machine is busy" not in line)))
                elif (why := difference(command.shown, done.stdout)):
                    failed += 1
                    print(f"{page.name}: {command.line}\n{why}")
    for (start, end), printed in reversed(replaced):
        text = text[:start] + printed + text[end:]
    if replaced:
        page.write_text(text)
    return failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--examples", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--write", action="store_true")
    parser.add_argument("page", nargs="+", type=lambda path: pathlib.Path(path).resolve())
    arguments = parser.parse_args()
    failed = 0
    for page in arguments.page:
        print(page.name, flush=True)
        failed += check_commands(arguments.ounce, arguments.examples, page, page.read_text(), arguments.write)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
