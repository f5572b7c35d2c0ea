#!/usr/bin/env python3
"""Shows the gain of each method that preserves accuracy: output SQNR of static INT8 on the benchmark models with and without it.

usage: OUNCE_ZOO=folder bench/studies/int8_ablation.py [--ounce build/ounce] [--only kws,gpt]

Each row is a model, each column a set of options. Calibration and validation data are those of int8.py.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import int8

PLAIN = ["--no-search", "--no-equalize", "--no-correct-bias", "--scale", "absmax", "--rounding", "nearest"]
STEPS = [  # each adds an option to the simplest method
    ("minmax", [*PLAIN, "--calibration", "minmax"]),
    ("p99.99", [*PLAIN, "--calibration", "percentile"]),
    ("auto", PLAIN),
    ("mse scales", [*PLAIN[:3], "--scale", "mse", "--rounding", "nearest"]),
    ("balanced", [*PLAIN[:5], "--rounding", "balanced"]),
    ("adaptive", [*PLAIN[:5], "--rounding", "adaptive"]),
    ("equalize", ["--no-search", "--equalize", "--no-correct-bias", *PLAIN[3:]]),
    ("bias", ["--no-search", "--no-equalize", "--correct-bias", *PLAIN[3:]]),
    ("search", ["--search", "--no-equalize", "--no-correct-bias", *PLAIN[3:]]),
    ("default", []),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    wanted = arguments.only.split(",") if arguments.only else None
    print(f"{'SQNR in dB':18}" + "".join(f"{name:>12}" for name, _ in STEPS))
    with tempfile.TemporaryDirectory() as scratch:
        for name, form, calibration, validation, _ in int8.ROWS:
            if form != "int8" or (wanted and name not in wanted):
                continue
            folder = int8.EXAMPLES if name == "commands" else zoo
            model, small = os.path.join(folder, f"{name}.onnx"), os.path.join(scratch, "small.onnx")
            print(f"{name:18}", end="", flush=True)
            for _, options in STEPS:
                int8.run(arguments.ounce, "quantize", model, "--to", "int8", *int8.places(calibration, folder), "-o", small,
                         "--json", *options)
                document = int8.run(arguments.ounce, "verify", model, small, *int8.places(validation, folder), "--no-edge-cases",
                                    "--json", may_fail=(1,))
                figure = min(output["sqnr_db"] or 0 for output in document["results"][0]["outputs"]
                             if output["name"] != "stateN")
                print(f"{figure:12.2f}", end="", flush=True)
            print()


if __name__ == "__main__":
    main()
