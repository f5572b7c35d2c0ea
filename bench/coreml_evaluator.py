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

# How the data is read: the file, the samples for fitting, the samples for measuring, and preprocessing.
IMAGES = ["--rescale", "1/255", "--mean", ".4914,.4822,.4465", "--std", ".247,.2435,.2616", "--layout", "nchw"]
DATA = {
    "mobilenetv2": ("cifar_val.npz", ["input=calib"], ["input=x"], IMAGES),
    "kws": ("kws_val.npz", ["audio=calib"], ["audio=audio"], ["--rescale", "1/32768"]),
    "vocoder": ("vocoder_val.npz", [], [], []),
    "agnews": ("agnews_val.npz", ["input_ids=calib_ids", "attention_mask=calib_mask"],
               ["input_ids=ids", "attention_mask=mask"], []),
    "gpt": ("gpt_val.npz", ["tokens=calib"], ["tokens=x"], []),
    "detector": ("detector/calib", [], [], ["--rescale", "1/255", "--layout", "nchw"]),
}


def data_options(zoo, package, is_for_fitting):
    """The options of `ounce` for the data of one of the packages."""
    name = package.stem.rsplit("_", 2)[0]
    file, fitting, measuring, options = DATA[name]
    if name == "detector" and not is_for_fitting:
        file = "detector/val"
    inputs = [word for pair in (fitting if is_for_fitting else measuring) for word in ("--input", pair)]
    return ["--data", str(zoo / file), *inputs, *options]


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
        data = data_options(zoo, package, True)
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
