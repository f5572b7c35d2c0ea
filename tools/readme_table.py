#!/usr/bin/env python3
"""Measures the table of README: the embedded example in every format, judged on data that calibration has not seen.

usage: readme_table.py OUNCE EXAMPLE README.md     rewrites the part of README.md between <!-- measured --> and <!-- end -->
"""

import json
import pathlib
import subprocess
import sys
import tempfile

WAYS = {"w16": [], "w8": [], "w4": [], "int8-dynamic": [], "int8": ["--data", "calib.npz"]}


def table(ounce, example):
    with tempfile.TemporaryDirectory(prefix="ounce-table-") as name:
        folder = pathlib.Path(name)
        for source in ("commands.onnx", "commands_calib.npz", "commands_val.npz"):
            (folder / source.replace("commands_", "")).write_bytes((example / source).read_bytes())

        def run(*words):
            done = subprocess.run([ounce, *words, "--json"], cwd=folder, capture_output=True, text=True)
            if done.returncode > 1:
                sys.exit(f"ounce {' '.join(words)}: {done.stderr}")
            return json.loads(done.stdout) if done.stdout else {}

        subprocess.run([ounce, "contract", "set", "commands.onnx", "-o", "model.onnx", "--rate", "8000", "--length", "8000",
                        "--rescale", "1/32768"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for way, more in WAYS.items():
            run("quantize", "model.onnx", "--to", way, "-o", f"{way}.onnx", *more)
        files = [f"{way}.onnx" for way in WAYS]
        judged = run("verify", "model.onnx", *files, "--data", "val.npz", "--labels", "label", "--no-edge-cases", "--max-drop", "50%")
        timed = run("bench", "model.onnx", *files, "--data", "val.npz", "-t", "2")["results"][0]
        original = timed["models"][0]
        rows = [f"| FP32 | {original['bytes'] / 1e3:.0f} kB | – | {judged['results'][0]['metrics'][0]['reference']:.3f} | 1 |"]
        for way, candidate, model in zip(WAYS, judged["results"], timed["models"][1:]):
            output, speed = candidate["outputs"][0], model["batches"][0]["speed_up"]
            ratio = f"{speed['ratio']:.2f}× ({speed['low']:.2f} … {speed['high']:.2f})" if speed["measurable"] else "no measurable difference"
            rows.append(f"| `--to {way}` | {100 * model['bytes'] / original['bytes']:.1f} % | {output['sqnr_db']:.1f} dB | "
                        f"{candidate['metrics'][0]['candidate']:.3f} | {ratio} |")
        runtime, clips = timed["runtime_version"], judged["results"][0]["samples"]
    head = ["| voice-command model | size | output SQNR | accuracy | speed (95 % CI) |", "|---|---|---|---|---|"]
    foot = [f"Measured in ONNX Runtime {runtime} with one thread ({timed['cpu']}) on {clips} clips that calibration has not seen. `make docs` repeats the",
            "measurement. [More models](docs/benchmarks/results.md)."]
    return "\n".join([*head, *rows, "", *foot])


def main(ounce, example, readme):
    text = readme.read_text()
    before, rest = text.split("<!-- measured -->\n")
    _, after = rest.split("<!-- end -->")
    readme.write_text(f"{before}<!-- measured -->\n{table(ounce, example)}\n<!-- end -->{after}")


if __name__ == "__main__":
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:4]))
