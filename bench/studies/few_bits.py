#!/usr/bin/env python3
"""Low-bit weights (MatMulNBits): each method on gpt and agnews, judged on rows that calibration has not seen.

    OUNCE_ZOO=/path/to/zoo bench/studies/few_bits.py [--ounce build/ounce] [--only gpt]

Needs numpy and onnxruntime (pip). size is bytes / FP32 bytes; quality is gpt's mean nll over the first 96 validation rows and
agnews' agreement with FP32 over all 1200; time and peak memory are those of `ounce quantize` without its trial.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime as ort

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = [
    ["--method", "rtn", "--scale", "absmax"],
    ["--method", "rtn"],
    ["--method", "rtn", "--asymmetric"],
    ["--method", "scale"],
    ["--method", "gptq"],
    ["--method", "gptq", "--asymmetric"],
    ["--method", "rtn", "--granularity", "block:64"],
    ["--method", "scale", "--granularity", "block:64"],
    ["--method", "gptq", "--granularity", "block:64"],
    ["--method", "gptq", "--granularity", "block:128"],
]


def session(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def nll(path, data):
    run = session(path)
    total, count = 0.0, 0
    for first in range(0, 96, 8):
        logits = run.run(None, {"tokens": data["x"][first:first + 8].astype(np.int64)})[0].astype(np.float64)
        logits -= logits.max(-1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(-1, keepdims=True))
        wanted = data["y"][first:first + 8].astype(np.int64)
        total -= np.take_along_axis(logits, wanted[..., None], -1).sum()
        count += wanted.size
    return total / count


def answers(path, data):
    run = session(path)
    found = []
    for first in range(0, len(data["ids"]), 50):
        rows = slice(first, first + 50)
        found.append(run.run(None, {"input_ids": data["ids"][rows].astype(np.int64),
                                    "attention_mask": data["mask"][rows].astype(np.int64)})[0].argmax(-1))
    return np.concatenate(found)


def quantize(ounce, command):
    """Seconds and peak memory of a command, run from a separate process, because ru_maxrss of children is their maximum."""
    script = ("import resource, subprocess, sys, time; start = time.time();"
              "code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
              "print(code, time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)")
    out = subprocess.run([sys.executable, "-c", script, ounce, *command], capture_output=True, text=True, check=True)
    code, seconds, peak = out.stdout.split()
    if code != "0":
        sys.exit(f"{' '.join(command)}: exit code {code}")
    return float(seconds), float(peak)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ounce", default=os.path.join(HERE, "..", "..", "build", "ounce"))
    parser.add_argument("--only", choices=["gpt", "agnews"])
    options = parser.parse_args()
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("OUNCE_ZOO is not set")
    models = {
        "gpt": ["--input", "tokens=calib"],
        "agnews": ["--input", "input_ids=calib_ids", "--input", "attention_mask=calib_mask"],
    }
    print(f"{'model':7} {'options':42} {'size':>6} {'quality':>8} {'time':>7} {'peak':>7}")
    for name, fields in models.items():
        if options.only not in (None, name):
            continue
        path = os.path.join(zoo, name + ".onnx")
        validation = os.path.join(zoo, name + "_val.npz")
        data = np.load(validation)
        reference = answers(path, data) if name == "agnews" else None
        print(f"{name:7} {'FP32':42} {1:6.4f} {nll(path, data) if name == 'gpt' else 1:8.4f}")
        for row in ROWS:
            with tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, "out.onnx")
                seconds, peak = quantize(options.ounce, ["quantize", path, "--to", "nbits4", "-o", out, "--no-verify",
                                                         "--accuracy-level", "1", "--data", validation, *fields, *row])
                quality = nll(out, data) if name == "gpt" else (answers(out, data) == reference).mean()
                size = os.path.getsize(out) / os.path.getsize(path)
            print(f"{name:7} {' '.join(row):42} {size:6.4f} {quality:8.4f} {seconds:5.1f} s {peak:4.0f} MB", flush=True)


if __name__ == "__main__":
    main()
