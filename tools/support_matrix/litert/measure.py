#!/usr/bin/env python3
"""Runs every case in every library, compares with the reference, and writes litert.txt.

usage: measure.py LIBRARIES [--output FILE] [--seeds N]

LIBRARIES is the folder that fetch.py filled. README.md says what the characters of the file mean.
"""
import argparse
import datetime
import hashlib
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPILERS = {"x64": "g++", "arm64": "aarch64-linux-gnu-g++"}
NEWEST_VERSION = 20        # of an operator: none has as many
RUNS, REFUSED, FAILS, CRASHES, HANGS = range(5)


def runner(folder, machine):
    program = folder / f"runner-{machine}"
    source = HERE / "runner.cpp"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([COMPILERS[machine], "-std=c++20", "-O1", str(source), "-o", str(program), "-ldl"], check=True)
    return [str(program)] if machine == "x64" else [os.environ.get("OUNCE_QEMU_AARCH64", "qemu-aarch64"), "-L", "/usr/aarch64-linux-gnu", str(program)]


def packed(probes):
    """As runner.cpp describes it. A probe: the model's bytes and those of each input."""
    parts = [struct.pack("<I", len(probes))]
    for model, inputs in probes:
        parts += [struct.pack("<Q", len(model)), model, struct.pack("<I", len(inputs))]
        for given in inputs:
            parts += [struct.pack("<Q", len(given)), given]
    return b"".join(parts)


def unpacked(data):
    at, results = 0, []
    while at < len(data):
        outcome, delegated, count = struct.unpack_from("<BBI", data, at)
        at += 6
        outputs = []
        for _ in range(count):
            (size,) = struct.unpack_from("<Q", data, at)
            outputs.append(data[at + 8:at + 8 + size])
            at += 8 + size
        results.append((outcome, delegated, outputs))
    return results


def ask(folder, library, probes):
    """(outcome, delegated, outputs) of each probe."""
    with tempfile.NamedTemporaryFile(dir=folder) as pack:
        pack.write(packed(probes))
        pack.flush()
        machine = library.parent.name.split("-")[0]
        if library.suffix == ".python":
            command = [str(library.parent / "venv/bin/python"), str(HERE / "run_python.py"), pack.name]
        else:
            command = [*runner(folder, machine), str(library), pack.name]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    results = unpacked(done.stdout)
    if len(results) != len(probes):
        sys.exit(f"{library}: {len(results)} results of {len(probes)} probes")
    return results


def answer(case, result):
    outcome, delegated, outputs = result
    if outcome != RUNS:
        return {REFUSED: "x", FAILS: "r", CRASHES: "c", HANGS: "c"}[outcome]
    if not case.is_right(outputs):
        return "!"
    return "+" if delegated == 1 else "b"


def worst(answers):
    """The worst result of several seeds."""
    return max(answers, key="+b!rxc".index)


def measure(folder, library, case_lists, operators):
    by_key = {}
    for cases in case_lists:
        for case, result in zip(cases, ask(folder, library, [(case.model(), case.given()) for case in cases])):
            by_key.setdefault((case.op, case.key), []).append(answer(case, result))
    answers = {key: worst(found) for key, found in by_key.items()}
    # The highest version of each operator that loads, with types that do.
    probes, asked = [], []
    for op in operators:
        case = next((case for case in case_lists[0] if case.op == op and answers[op, case.key] in "+b!r"), None)
        if case is None:
            continue
        first = case.version
        for case.version in range(first, NEWEST_VERSION + 1):
            probes.append((case.model(), case.given()))
            asked.append((op, case.version))
        case.version = first
    newest = dict.fromkeys(operators, 0)
    for (op, version), (outcome, _, _) in zip(asked, ask(folder, library, probes)):
        if outcome not in (REFUSED, CRASHES, HANGS):
            newest[op] = max(newest[op], version)
    return answers, newest


def columns(libraries):
    """MACHINE-RUNTIME-VERSION/LIBRARY: x64 first, TensorFlow Lite before LiteRT, oldest first."""
    def order(folder):
        machine, runtime, version = folder.name.split("-")
        return machine != "x64", runtime != "tflite", [int(part) for part in version.split(".")]

    folders = [folder for folder in libraries.iterdir() if folder.name.split("-")[0] in COMPILERS]
    for folder in sorted(folders, key=order):
        found = [*folder.glob("*.so"), *folder.glob("*.python")]
        if found:
            yield folder.name.split("-"), found[0]


def digest_of(library):
    file = library if library.suffix != ".python" else Path(library.read_text().strip())
    return hashlib.sha256(file.read_bytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", type=Path)
    parser.add_argument("--output", type=Path, default=HERE.parent / "litert.txt")
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.libraries / "schema"))
    from cases import cases
    case_lists = [cases(seed) for seed in range(arguments.seeds)]
    operators = sorted({case.op for case in case_lists[0]})
    lines, tables = ["ounce-litert 1", f"measured {datetime.date.today().isoformat()}"], []
    for (machine, runtime, version), library in columns(arguments.libraries):
        print(f"{runtime} {version} on {machine}", file=sys.stderr, flush=True)
        lines.append(f"column {machine} {runtime} {version} sha256={digest_of(library)}")
        tables.append(measure(arguments.libraries, library, case_lists, operators))
    lines.append("operators")
    for op in operators:
        lines.append(f"op {op} {' '.join(str(newest[op]) for _, newest in tables)}")
        for key in sorted({case.key for case in case_lists[0] if case.op == op}):
            lines.append(f"{''.join(answers[op, key] for answers, _ in tables)} {key}")
    arguments.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
