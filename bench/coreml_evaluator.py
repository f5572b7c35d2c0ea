#!/usr/bin/env python3
"""Compare the evaluator of ML Programs with ONNX Runtime on the Core ML packages in OUNCE_ZOO.

    OUNCE_ZOO=… bench/coreml_evaluator.py build/ounce [--samples 16] [--gate]

Each package was converted from an ONNX model in OUNCE_ZOO. `ounce verify` runs both on the same data; the table shows the
SQNR of each output. --gate fails unless FP32 packages reach 120 dB and FP16 packages 50 dB.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

IMAGES = ["--rescale", "1/255", "--mean", ".4914,.4822,.4465", "--std", ".247,.2435,.2616", "--layout", "nchw"]
DATA = {
    "mobilenetv2": ["--data", "cifar_val.npz", "--input", "input=calib", *IMAGES],
    "kws": ["--data", "kws_val.npz", "--input", "audio=calib", "--rescale", "1/32768"],
    "vocoder": ["--data", "vocoder_val.npz"],
    "agnews": ["--data", "agnews_val.npz", "--input", "input_ids=calib_ids", "--input", "attention_mask=calib_mask"],
    "gpt": ["--data", "gpt_val.npz", "--input", "tokens=calib"],
    "detector": ["--data", "detector/calib", "--rescale", "1/255", "--layout", "nchw"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ounce")
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args()
    zoo = pathlib.Path(os.environ["OUNCE_ZOO"])
    missed = []
    print("| package | samples | SQNR of each output, dB | goal |\n|---|---|---|---|")
    for package in sorted((zoo / "coreml").glob("*.mlpackage")):
        name, width, _ = package.stem.rsplit("_", 2)
        data = [str(zoo / word) if word.endswith((".npz", "/calib")) else word for word in DATA[name]]
        samples = min(options.samples, 2) if name in ("gpt", "detector") else options.samples
        command = [options.ounce, "verify", str(zoo / f"{name}.onnx"), str(package), *data,
                   "--samples", str(samples), "--json"]
        made = subprocess.run(command, capture_output=True, text=True)
        goal = 120 if width == "fp32" else 50
        try:
            outputs = json.loads(made.stdout)["results"][0]["outputs"]
            figures = [output["sqnr_db"] for output in outputs]
        except (ValueError, KeyError, IndexError):
            print(f"| {package.stem} | | {made.stderr.strip()} | {goal} |")
            missed.append(package.stem)
            continue
        print(f"| {package.stem} | {samples} | {', '.join(f'{figure:.1f}' for figure in figures)} | {goal} |", flush=True)
        if min(figures) < goal:
            missed.append(package.stem)
    if options.gate and missed:
        sys.exit(f"below the goal: {', '.join(missed)}")


if __name__ == "__main__":
    main()
