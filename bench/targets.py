#!/usr/bin/env python3
"""Checks that models made for a target run there: every benchmark model in every format, in several releases of ONNX Runtime.

usage: OUNCE_ZOO=folder bench/targets.py --libraries DIR [--ounce build/ounce] [--only kws,gpt] [--releases 1.14.0,1.22.0,1.30.0]

DIR is a folder filled by tools/support_matrix/fetch.sh. `ounce quantize --target linux-x64@VERSION` makes each model, `ounce
check` predicts whether it runs, and `ounce verify` runs it in this release. Exit 1 if a model does not run or a prediction is
wrong. Also times `ounce check` on a model of 1,000 nodes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from fp16 import ROWS
from int8 import EXAMPLES, places

FORMATS = ("w8", "w4", "w16", "int8-dynamic", "int8-dynamic --dynamic-conv", "int8", "int8 --dialect qoperator", "fp16")
BENCH = os.path.dirname(os.path.abspath(__file__))


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--releases", default="1.14.0,1.17.3,1.22.0,1.26.0,1.30.0")
    options = parser.parse_args()
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    made, failures, refusals = 0, [], []
    for name, feeding in ROWS:
        if options.only and name not in options.only.split(","):
            continue
        folder = EXAMPLES if name == "commands" else zoo
        model, data = os.path.join(folder, name + ".onnx"), [*places(feeding, folder), "--samples", "8"]
        for form in FORMATS:
            for release in options.releases.split(","):
                target = f"linux-x64@{release}"
                with tempfile.TemporaryDirectory() as scratch:
                    small = os.path.join(scratch, "small.onnx")
                    calibration = data if form.split()[0] == "int8" else []
                    done = run(options.ounce, "quantize", model, "-o", small, "--to", *form.split(), "--target", target, "--no-search",
                               "--no-verify", *calibration)
                    what = f"{name} {form} for {release}"
                    if done.returncode == 3:
                        refusals.append(f"{what}: {done.stderr.strip()}")
                        continue
                    if done.returncode != 0:
                        failures.append(f"{what}: {done.stderr.strip()}")
                        continue
                    made += 1
                    checked = run(options.ounce, "check", small, "--target", target, "--json")
                    verdict = json.loads(checked.stdout)["results"][0]["targets"][0]["verdict"]
                    library = os.path.join(options.libraries, release, "lib", "libonnxruntime.so")
                    ran = run(options.ounce, "verify", small, small, *data, "--no-edge-cases", "--runtime", library)
                    if ran.returncode != 0 or verdict not in ("runs", "slow"):
                        failures.append(f"{what}: check says {verdict}, verify exits {ran.returncode} {ran.stderr.strip()[:200]}")
        print(f"{name}: {made} models so far, {len(failures)} failures", flush=True)
    for line in refusals:
        print("refused:", line)
    for line in failures:
        print("FAILED:", line)
    print(f"{made} models made for {options.releases}: {made - len(failures)} run there, {len(refusals)} refused with a reason")

    with tempfile.TemporaryDirectory() as scratch:
        chain = os.path.join(scratch, "chain.onnx")
        subprocess.run([sys.executable, os.path.join(BENCH, "models.py"), "chain", "1000", chain], check=True, capture_output=True)
        times = []
        for _ in range(10):
            start = time.perf_counter()
            run(options.ounce, "check", chain, "--target", "linux-x64@1.30.0")
            times.append(time.perf_counter() - start)
        print(f"check of 1,000 nodes: {1000 * sorted(times)[5]:.0f} ms with starting the program (median of 10)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
