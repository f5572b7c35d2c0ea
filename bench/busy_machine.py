#!/usr/bin/env python3
"""Measure speed-ups while 0, 4 and 8 other processes are busy; they must agree within 10 %.

    OUNCE_ZOO=… bench/busy_machine.py build/ounce [--seconds 1.5] [--busy 0 4 8] [--old OTHER_OUNCE]

Each benchmark model is quantized to static INT8 without search, then timed against the original by `ounce bench` on one
thread. The busy processes run endless loops. The table shows the speed-up, its 95 % interval and the load (wall time over CPU
time) for each number of busy processes. --old times the same files with another build of Ounce.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

IMAGES = ["--rescale", "1/255", "--mean", ".4914,.4822,.4465", "--std", ".247,.2435,.2616", "--layout", "nchw"]
MODELS = {
    "mobilenetv2": ["--data", "cifar_val.npz", "--input", "input=calib", *IMAGES],
    "kws": ["--data", "kws_val.npz", "--input", "audio=calib", "--rescale", "1/32768"],
    "vocoder": ["--data", "vocoder_val.npz"],
    "agnews": None,  # int8-dynamic: needs no data
}


def quantize(ounce, zoo, folder, name, data):
    output = folder / f"{name}.int8.onnx"
    words = ["--to", "int8-dynamic"]
    if data is not None:
        words = ["--to", "int8", "--no-search", "--samples", "64"]
        words += [str(zoo / word) if word.endswith(".npz") else word for word in data]
    command = [ounce, "quantize", str(zoo / f"{name}.onnx"), "-o", str(output), "--no-verify", *words]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(f"{name}: {made.stderr.strip()}")
    return output


def speed(ounce, original, candidate, seconds, busy):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        command = [ounce, "bench", str(original), str(candidate), "-t", str(seconds), "--cold-starts", "0", "--json"]
        report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    return report["results"][0]["models"][1]["batches"][0]["speed_up"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ounce")
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 4, 8])
    parser.add_argument("--old", help="another build to time together with this one")
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    options = parser.parse_args()
    zoo = pathlib.Path(os.environ.get("OUNCE_ZOO", ""))
    if not (zoo / "mobilenetv2.onnx").exists():
        sys.exit("busy_machine.py: set OUNCE_ZOO to the folder of the benchmark models")
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.models:
            candidate = quantize(options.ounce, zoo, pathlib.Path(scratch), name, MODELS[name])
            for label, program in (("", options.ounce), (" (old)", options.old)):
                if program is None:
                    continue
                found = [speed(program, zoo / f"{name}.onnx", candidate, options.seconds, busy) for busy in options.busy]
                cells = [
                    f"{busy} busy: {s['ratio']:.2f}× ({s['low']:.2f}–{s['high']:.2f}) load {s.get('load') or 0:.2f}"
                    for busy, s in zip(options.busy, found)
                ]
                ratios = [s["ratio"] for s in found]
                spread = max(ratios) / min(ratios) - 1
                if not label:
                    failures += spread > 0.1
                print(f"{name + label:18} {'  '.join(cells)}  spread {100 * spread:.1f} %", flush=True)
    print(f"{'failed' if failures else 'passed'}: {failures} of {len(options.models)} models spread by more than 10 %")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
