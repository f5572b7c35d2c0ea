#!/usr/bin/env python3
"""Checks the documented figures of verify and bench on the benchmark models.

usage: OUNCE_ZOO=folder bench/runtime_figures.py [--ounce build/ounce] [--gate]

- accuracies of the models in OUNCE_ZOO against themselves, as given in its README
- peak memory of verify while the dataset grows a hundredfold, compressed and not
- overhead of verify beyond the two inferences
- overhead of bench beyond a call
- speed of w8 (fold) and of dq against FP32, in one interleaved run

Figures are ratios of one run. --gate exits with 1 if one of them is out of its bounds. Needs numpy.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

PIXELS = ["--input", "input=x", "--layout", "nchw", "--rescale", "1/255", "--mean", ".4914,.4822,.4465", "--std", ".2470,.2435,.2616"]

# model, data, options, metric, value in the README of OUNCE_ZOO
ACCURACIES = [
    ("mobilenetv2", "cifar_val.npz", [*PIXELS, "--labels", "y"], "top1_accuracy", "0.8815"),
    ("kws", "kws_val.npz", ["--labels", "y", "--rescale", "1/32768"], "top1_accuracy", "1.0000"),
    ("gpt", "gpt_val.npz", ["--input", "tokens=x", "--labels", "y", "--metric", "nll", "--samples", "96"], "nll", "1.4162"),
    ("agnews", "agnews_val.npz", ["--input", "input_ids=ids", "--input", "attention_mask=mask", "--labels", "label"],
     "top1_accuracy", "0.8492"),
]
MISSED = []


def show(name, value, good, wanted):
    print(f"  {name:52} {value:>24}   {'' if good else 'MISSED: '}{wanted}")
    if not good:
        MISSED.append(name)


class Ounce:
    def __init__(self, program):
        self.program = program

    def run(self, *arguments):
        """Returns the JSON document and the peak resident memory in MB."""
        read, write = os.pipe()
        process = subprocess.Popen([self.program, *arguments, "--json"], stdout=write, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as stream:
            document = stream.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(arguments)}: exit {process.returncode}\n{document}")
        return json.loads(document), usage.ru_maxrss / 1024


def accuracies(ounce, zoo):
    print("Accuracies of the models, FP32 against FP32")
    for name, data, options, metric, wanted in ACCURACIES:
        model = f"{zoo}/{name}.onnx"
        document, _ = ounce.run("verify", model, model, "--data", f"{zoo}/{data}", *options, "--no-edge-cases")
        found = next(m for m in document["results"][0]["metrics"] if m["name"] == metric)
        value = f"{found['reference']:.4f}"
        show(f"{name} {metric}", value, value == wanted and found["drop"] == 0 and document["results"][0]["max_abs_diff"] == 0, wanted)


def overhead(ounce, zoo, folder):
    print("Verify beyond the two inferences, without loading")
    for name, data, options, _, _ in ACCURACIES:
        model, small = f"{zoo}/{name}.onnx", f"{folder}/{name}.w8.onnx"
        if not os.path.exists(small):
            ounce.run("quantize", model, "-o", small, "--no-verify")
        document, _ = ounce.run("verify", model, small, "--data", f"{zoo}/{data}", *options, "--no-edge-cases")
        entry = document["results"][0]
        inside = entry["reference_ns"] + entry["candidate_ns"]
        share = (entry["duration_ns"] - entry["load_ns"]) / inside - 1
        show(f"{name} ({entry['samples']} samples)", f"{100 * share:.2f} %", share <= 0.05, "at most 5 %")


def make_sound(zoo, path, count, kind):
    save = np.savez_compressed if kind == "compressed" else np.savez
    save(path, audio=np.resize(np.load(f"{zoo}/kws_val.npz")["audio"], (count, 8000)))


def memory(ounce, zoo, folder):
    print("Peak memory of verify while the dataset grows a hundredfold")
    model = f"{zoo}/kws.onnx"
    for kind in ("compressed", "stored"):
        peaks = {}
        for count in (100, 10_000):
            path = f"{folder}/{kind}{count}.npz"
            # In a separate process: a child's peak starts with its parent's memory, so this process must be small.
            subprocess.run([sys.executable, __file__, "--make-sound", zoo, path, str(count), kind], check=True)
            _, peaks[count] = ounce.run("verify", model, model, "--data", path, "--rescale", "1/32768", "--no-edge-cases")
            size = os.path.getsize(path) / 1e6
            os.remove(path)
        growth = peaks[10_000] - peaks[100]
        show(f"kws, 100 → 10,000 samples ({size:.0f} MB {kind})", f"{peaks[100]:.0f} → {peaks[10_000]:.0f} MB", growth <= 20,
             "at most 20 MB more: pages of a mapped file are released 16 MB at a time")


def speeds(ounce, zoo, folder):
    print("Speed against FP32, interleaved, one thread")
    for name, options in (("mobilenetv2", []), ("vocoder", ["--shape", "T=64"])):
        model = f"{zoo}/{name}.onnx"
        forms = {"w8": [], "dq": ["--decode", "dq"]}
        paths = []
        for form, more in forms.items():
            paths.append(f"{folder}/{name}.{form}.onnx")
            ounce.run("quantize", model, "-o", paths[-1], "--no-verify", *more)
        document, _ = ounce.run("bench", model, *paths, "-t", "5", "--cold-starts", "0", *options)
        for form, entry in zip(forms, document["results"][0]["models"][1:]):
            speed = entry["batches"][0]["speed_up"]
            text = f"{speed['ratio']:.3f} ({speed['low']:.3f} … {speed['high']:.3f})"
            if form == "w8":
                show(f"{name} w8", text, speed["ratio"] >= 0.95, "at least 0.95")
            elif name == "mobilenetv2":
                show(f"{name} dq", text, speed["ratio"] <= 0.5, "0.3 to 0.5: why fold is the default")


def call_overhead(ounce, folder):
    print("Bench beyond a call: a model of one addition, including the runtime's overhead")
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "cli"))
    from onnx_bytes import graph, model, node, value
    path = f"{folder}/add.onnx"
    with open(path, "wb") as file:
        file.write(model(graph([node("Add", ["x", "x"], ["y"])], [value("x", [1])], [value("y", [1])])))
    document, _ = ounce.run("bench", path, "-t", "1", "--cold-starts", "0")
    p50 = document["results"][0]["models"][0]["batches"][0]["latency"]["p50_ns"]
    show("p50 of a call", f"{p50 / 1e3:.1f} µs", p50 <= 20_000, "at most 20 µs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--make-sound", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make_sound:
        where, path, count, kind = arguments.make_sound
        return make_sound(where, path, int(count), kind)
    zoo = os.environ.get("OUNCE_ZOO")
    if not zoo:
        sys.exit("runtime_figures: set OUNCE_ZOO to the folder of the benchmark models")
    ounce = Ounce(arguments.ounce)
    with tempfile.TemporaryDirectory(prefix="ounce-figures-") as folder:
        accuracies(ounce, zoo)
        overhead(ounce, zoo, folder)
        memory(ounce, zoo, folder)
        call_overhead(ounce, folder)
        speeds(ounce, zoo, folder)
    return 1 if MISSED and arguments.gate else 0


if __name__ == "__main__":
    sys.exit(main())
