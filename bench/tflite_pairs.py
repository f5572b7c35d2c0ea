#!/usr/bin/env python3
"""Compare the .tflite models in OUNCE_ZOO with the ONNX models that they were converted from.

    OUNCE_ZOO=… bench/tflite_pairs.py build/ounce [--models kws mobilenetv2] [--bench kws] [--seconds 2]

Prints for each pair the SQNR of each output on real data (`ounce verify model.onnx model.tflite`), the metric of both models,
and the number of operators that XNNPACK runs. --bench names pairs that are also timed against each other: the ratio is above 1
if LiteRT is faster than ONNX Runtime.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

COLORS = ["--rescale", "1/255", "--mean", ".4914,.4822,.4465", "--std", ".247,.2435,.2616", "--layout", "nchw"]
# Model → the ONNX file and its data, as in the README of the folder.
PAIRS = {
    "kws": ("kws.onnx", ["--data", "kws_val.npz", "--labels", "y", "--rescale", "1/32768"]),
    "mobilenetv2": ("mobilenetv2.onnx", ["--data", "cifar_val.npz", "--input", "input=x", "--labels", "y", "--samples", "500",
                                         *COLORS]),
    "vocoder": ("vocoder.onnx", ["--data", "vocoder_val.npz", "--first", "60"]),
    "detector": ("detector.onnx", ["--data", "detector/val", "--rescale", "1/255", "--layout", "nchw"]),
    "ultraface": ("ultraface_rfb_320.onnx", ["--data", "faces", "--size", "240x320", "--mean", "127", "--std", "128",
                                             "--layout", "nchw"]),
    "agnews": ("agnews.onnx", ["--data", "agnews_val.npz", "--input", "input_ids=ids", "--input", "attention_mask=mask",
                               "--labels", "label", "--samples", "400"]),
    "commands": ("commands.onnx", ["--data", "commands_val.npz", "--labels", "label", "--rescale", "1/32768"]),
    "silero_dynamic": ("silero_vad.onnx", ["--shape", "input:1=512"]),
}
FILES = {"detector/val", "faces"}


def run(words):
    done = subprocess.run(words, capture_output=True, text=True)
    document = json.loads(done.stdout) if done.stdout else {}
    results = document.get("results") or []
    return (results[0] if results else None), done.stderr.strip()


def place(zoo, name):
    """A file of the folder, or of the embedded example."""
    example = pathlib.Path(__file__).parent.parent / "examples" / "commands" / name
    return str(example if example.exists() else zoo / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ounce")
    parser.add_argument("--models", nargs="+", default=list(PAIRS), choices=list(PAIRS))
    parser.add_argument("--bench", nargs="*", default=["kws", "mobilenetv2"], choices=list(PAIRS))
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    zoo = pathlib.Path(os.environ.get("OUNCE_ZOO", ""))
    if not (zoo / "tflite" / "kws.tflite").exists():
        sys.exit("tflite_pairs.py: set OUNCE_ZOO to the folder of the benchmark models")
    print(f"{'model':16} {'samples':>7}  {'SQNR of the outputs (dB)':26} {'metric: ONNX, TFLite':32} speed")
    failures = 0
    for name in options.models:
        original, data = PAIRS[name]
        data = [place(zoo, word) if word.endswith(".npz") or word in FILES else word for word in data]
        pair = [place(zoo, original), str(zoo / "tflite" / f"{name}.tflite")]
        found, why = run([options.ounce, "verify", *pair, *data, "--no-edge-cases", "--json"])
        if found is None:
            failures += 1
            print(f"{name:16} {why}", flush=True)
            continue
        decibels = " / ".join("exact" if output["exact"] else f"{output['sqnr_db']:.1f}" for output in found["outputs"])
        metrics = [f"{m['name']} {m['reference']:.4f}, {m['candidate']:.4f}" for m in found["metrics"][:1]]
        speed = ""
        if name in options.bench:
            report, _ = run([options.ounce, "bench", *pair, "-t", str(options.seconds), "--cold-starts", "0", "--profile",
                             "--json"])
            model = report["models"][1]
            ratio, profile = model["batches"][0]["speed_up"], model["profile"]
            speed = (f"{ratio['ratio']:.2f}× ({ratio['low']:.2f}–{ratio['high']:.2f}), "
                     f"XNNPACK {profile['delegated']} of {profile['operators']}")
        print(f"{name:16} {found['samples']:7}  {decibels:26} {''.join(metrics):32} {speed}", flush=True)
    print(f"{len(options.models) - failures} of {len(options.models)} models were compared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
