#!/usr/bin/env python3
"""Runs one command-line case and compares its output and exit code with the expected ones.

usage: run_case.py --ounce PROGRAM --models FOLDER CASE.sh

A case is a small shell script. It runs in an empty folder, with `ounce` and the commands of bin/ in its PATH; `need NAME…`
copies models there. The files next to it are its expected output and exit code: CASE.stdout, CASE.stderr (missing: no output)
and CASE.exit (missing: 0). A case that exits with 77 is skipped, because it does not apply to this machine.

With OUNCE_REFRESH=1 in the environment these files are written instead of compared.
Text that differs from run to run is replaced before comparing, only in normalized().
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
TIMEOUT = 1200  # seconds after which a case counts as hanging, on the slowest machine


def normalized(text, folder):
    """Replaces times, digests, the folder of the test, and text that depends only on the machine."""
    text = text.replace(str(folder), "<folder>")
    text = "\n".join(without_unsteady_cells(text.split("\n")))
    text = re.sub(r'("[a-z_0-9]+_ns": )[0-9]+', r"\g<1><time>", text)
    text = re.sub(r'("(?:peak|after)_bytes": )[0-9]+', r"\g<1><bytes>", text)
    text = re.sub(r"\b(?:[0-9a-f]{32}){1,2}\b", "<digest>", text)
    # The output error depends on the runtime's kernels, and so on the CPU.
    text = re.sub(r"((?:ONNX Runtime|LiteRT) )[0-9]+\.[0-9.]+[0-9]", r"\g<1><version>", text)
    text = re.sub(r'("runtime_version": )"[0-9.]+"', r'\g<1>"<version>"', text)
    text = re.sub(r'("cpu": )"(avx2|avx512|sse|arm64)( vnni)?"', r'\g<1>"<cpu>"', text)
    text = re.sub(r"(ONNX Runtime <version>) on (avx2|avx512|sse|arm64)( vnni)?", r"\g<1> on <cpu>", text)
    text = re.sub(r"this CPU only \([a-z0-9 ]+\)", "this CPU only (<cpu>)", text)
    text = re.sub(r"emulated by masking CPUID|qemu-x86_64", "<how>", text)
    text = re.sub(r"(  (?:[^ ]+: )?(?:warning: )?output error ).*", r"\g<1><share>", text)
    # Speed, and the kernels that the runtime chooses.
    text = re.sub(r"  speed: .*", "  speed: <speed>", text)
    text = re.sub(r"[0-9]+ nodes run in INT8 kernels, [0-9]+ in others", "<some> nodes run in INT8 kernels, <some> in others", text)
    text = re.sub(r'"speed_up": \{[^}]*\}', '"speed_up": <speed>', text)
    text = re.sub(r'"kernels": \{[^}]*\}', '"kernels": <kernels>', text)
    text = re.sub(r"(\.onnx\.)[0-9a-f]{16}(\.data)", r"\g<1><tag>\g<2>", text)
    return text


def is_rule(line):
    return re.fullmatch(r"-+(  -+)+", line) is not None


# Columns whose cells differ from run to run or from CPU to CPU: patterns of the cells, and their replacement.
UNSTEADY = {"time": (r"[0-9.]+ m?s", "<time>"), "output SQNR": (r"[0-9.]+ dB", "<dB>")}


def unsteady_columns(header, rule):
    for dashes in re.finditer("-+", rule):
        title = header[slice(*dashes.span())].strip()
        if title in UNSTEADY:
            yield dashes.span(), title


def without_unsteady_cells(lines):
    """Replaces cells and adapts the width of their columns, which is that of the widest cell; the last column first."""
    columns = []
    for line, below in zip(lines, lines[1:] + [""]):
        if is_rule(below):
            columns = list(unsteady_columns(line, below)) or columns
        cells = [line[slice(*span)].strip() for span, _ in columns]
        if not all(re.fullmatch(f"|-+|{title}|{UNSTEADY[title][0]}", cell) for cell, (_, title) in zip(cells, columns)):
            columns = []  # end of the table
        if columns and len(line) < columns[-1][0][1]:
            columns = []  # not a row of the table
        for ((start, end), title), cell in reversed(list(zip(columns, cells))):
            pattern, stand_in = UNSTEADY[title]
            width = max(len(title), len(stand_in))
            cell = "-" * width if is_rule(line) else re.sub(pattern, stand_in, cell)
            line = line[:start] + cell.rjust(width) + line[end:]
        yield line


def run(case, ounce, models):
    """Returns the output of the case, and its exit code."""
    if not pathlib.Path(ounce).is_file():
        sys.exit(f"{ounce} is missing: build it first")  # otherwise a refresh would empty all expected files
    with tempfile.TemporaryDirectory(prefix="ounce-cli-") as name:
        folder = pathlib.Path(name).resolve()
        (folder / "bin").mkdir()
        (folder / "bin" / "ounce").symlink_to(ounce)
        work = folder / "work"
        work.mkdir()
        (folder / "home").mkdir()
        environment = {
            "PATH": os.pathsep.join([str(folder / "bin"), str(HERE / "bin"), "/usr/bin", "/bin"]),
            "LC_ALL": "C.UTF-8",
            "HOME": str(folder / "home"),
            "OUNCE_TEST_MODELS": str(models),
            "OUNCE_ON": "none",  # other CPUs only in cases that request them
            **{key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS") or key == "OUNCE_ONNXRUNTIME"},
        }
        done = subprocess.run(["sh", "-eu", str(case)], cwd=work, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT, umask=0o022)
        streams = {kind: normalized(data.decode(errors="backslashreplace"), work)
                   for kind, data in (("stdout", done.stdout), ("stderr", done.stderr))}
        return {**streams, "exit": f"{done.returncode}\n"}


DEFAULTS = {"stdout": "", "stderr": "", "exit": "0\n"}


def refresh(case, seen):
    for kind, text in seen.items():
        file = case.with_suffix("." + kind)
        if text == DEFAULTS[kind]:
            file.unlink(missing_ok=True)
        else:
            file.write_text(text)


def differences(case, seen):
    for kind, text in seen.items():
        file = case.with_suffix("." + kind)
        expected = file.read_text() if file.exists() else DEFAULTS[kind]
        yield from difflib.unified_diff(expected.splitlines(True), text.splitlines(True), f"expected {file.name}", "actual output")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--models", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("case", type=lambda path: pathlib.Path(path).resolve())
    arguments = parser.parse_args()
    seen = run(arguments.case, arguments.ounce, arguments.models)
    if seen["exit"] == f"{SKIPPED}\n":
        return SKIPPED
    if os.environ.get("OUNCE_REFRESH"):
        refresh(arguments.case, seen)
        return 0
    found = list(differences(arguments.case, seen))
    sys.stdout.writelines(line if line.endswith("\n") else line + "\n" for line in found)
    if found:
        print("\nIf this change is intended, refresh with OUNCE_REFRESH=1 and review the diff.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
