#!/usr/bin/env python3
"""Runs every verb that has a report section on the embedded example, and makes one HTML report of all results.

usage: make_runs.py --ounce PROGRAM --example FOLDER OUT     leaves OUT/*.json and OUT/report.html

Searches get a number of models as their budget, and bench a number of calls, so that this takes seconds on any machine.
"""

import argparse
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = "android-arm64@1.22.0,linux-x64@1.30.0,linux-x64@1.14.0"


def runs():
    """The arguments of each run, and the permitted exit codes."""
    data, labels = ["--data", "clips.npz"], ["--labels", "label"]
    return {
        "quantize": (["quantize", "model.onnx", "--to", "int8", "-o", "small.onnx", "--on", "none", "--pictures", *data], [0]),
        "verify": (["verify", "model.onnx", "small.onnx", "--pictures", *data, *labels, "--max-drop", "5%"], [0]),
        "bench": (["bench", "model.onnx", "small.onnx", "-r", "60", "--cold-starts", "1", *data], [0]),
        "sensitivity": (["sensitivity", "model.onnx", "--by", "block", "--no-cache", *data], [0]),
        "tune": (["tune", "model.onnx", "-o", "tuned.onnx", "--on", "none", "--no-cache", "--budget", "8 models", "--max-drop", "5%", *data, *labels], [0, 1]),
        "check": (["check", "model.onnx", "small.onnx", "--target", TARGETS], [0, 3]),
        "inspect": (["inspect", "model.onnx"], [0]),
        "diff": (["diff", "model.onnx", "small.onnx"], [1]),
    }


def make(ounce, example, out):
    out.mkdir(parents=True, exist_ok=True)
    for source, name in (("commands.onnx", "commands.onnx"), ("commands_demo.npz", "clips.npz")):
        (out / name).write_bytes((example / source).read_bytes())

    def run(words, to, codes=(0,)):
        with open(out / to, "wb") as stdout:
            done = subprocess.run([ounce, *words], cwd=out, stdout=stdout, stderr=subprocess.PIPE)
        if done.returncode not in codes:
            raise SystemExit(f"ounce {' '.join(words)}: exit {done.returncode}\n{done.stderr.decode()}")

    run(["contract", "set", "commands.onnx", "-o", "model.onnx", "--rate", "8000", "--length", "8000", "--rescale", "1/32768"], "contract.txt")
    for name, (words, codes) in runs().items():
        run([*words, "--json"], f"{name}.json", codes)
    run(["report", *(f"{name}.json" for name in runs()), "-o", "report.html"], "report.txt")
    return out / "report.html"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--example", required=True, type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    print(make(arguments.ounce, arguments.example, arguments.out))


if __name__ == "__main__":
    main()
