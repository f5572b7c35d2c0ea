#!/usr/bin/env python3
"""Compares calibration of gpt with 128 samples with onnxruntime.quantization (PyPI): time and peak memory.

usage: OUNCE_ZOO=folder bench/calibration_peer.py [--ounce build/ounce] [--gate] [--rounds 3]

The programs run in separate processes, in alternation. Time is that of the fastest round, peak is resident memory as reported
by the system. Bounds: at most 1.3 times the peak of running the FP32 model once (`ounce bench`, one call), and at most a fifth
of the baseline's time (percentile calibration). Needs onnx and onnxruntime (pip).
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

PEER = """
import sys, numpy as np
from onnxruntime.quantization.calibrate import create_calibrator, CalibrationMethod, CalibrationDataReader
model, data, scratch = sys.argv[1:]
class Reader(CalibrationDataReader):
    def __init__(self): self.rows = iter(np.load(data)["calib"].astype(np.int64))
    def get_next(self):
        row = next(self.rows, None)
        return None if row is None else {"tokens": row[None]}
calibrator = create_calibrator(model, None, augmented_model_path=scratch + "/augmented.onnx",
                               calibrate_method=CalibrationMethod.Percentile)
calibrator.collect_data(Reader())
calibrator.compute_data()
"""


def run(command):
    """Seconds and peak resident megabytes of a process and its children."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command[:4])} …: exit {process.returncode}\n{errors[-2000:]}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    model, data = f"{zoo}/gpt.onnx", f"{zoo}/gpt_val.npz"
    with tempfile.TemporaryDirectory() as scratch:
        programs = {
            "FP32 model, once": [arguments.ounce, "bench", model, "--data", data, "--input", "tokens=calib", "--samples", "1",
                                 "--repeats", "1", "--cold-starts", "0"],
            "ounce calibrate": [arguments.ounce, "calibrate", model, "--data", data, "--input", "tokens=calib",
                                "-o", f"{scratch}/gpt.ranges"],
            "baseline, percentile": [sys.executable, "-c", PEER, model, data, scratch],
        }
        figures = {name: [] for name in programs}
        for _ in range(arguments.rounds):
            for name, command in programs.items():
                figures[name].append(run(command))
    best = {name: (min(t for t, _ in rounds), max(m for _, m in rounds)) for name, rounds in figures.items()}
    for name, (seconds, peak) in best.items():
        print(f"{name:18} {seconds:7.2f} s {peak:8.0f} MB")
    memory = best["ounce calibrate"][1] / best["FP32 model, once"][1]
    speed = best["baseline, percentile"][0] / best["ounce calibrate"][0]
    print(f"peak against running once: {memory:.2f} (at most 1.3)   speed against the baseline: {speed:.1f}× (at least 5×)")
    sys.exit(1 if arguments.gate and (memory > 1.3 or speed < 5) else 0)


if __name__ == "__main__":
    main()
