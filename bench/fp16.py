#!/usr/bin/env python3
"""FP16 graphs of the benchmark models: size, quality and speed against FP32 in two runtimes, with their bounds.

usage: OUNCE_ZOO=folder bench/fp16.py [--ounce build/ounce] [--only kws,gpt] [--runtimes 1.22.0,1.30.0] [--gate] [--seconds 4]

Each model is converted twice: without data, and with data that shows the range of its values. `ounce verify` compares the
result with the original on data in every runtime; `ounce bench` runs FP32, fp16 and w16 interleaved on one thread. --gate
exits with 1 if a figure is out of its bounds.
"""

import argparse
import os
import sys
import tempfile

from int8 import EXAMPLES, FACES, PIXELS, SOUND, SPEECH, places, run

LEAST_DB, LARGEST = 55, .505

# model, data options
ROWS = [
    ("kws", ["--data", "kws_val.npz", "--input", "audio=audio", *SOUND]),
    ("mobilenetv2", ["--data", "cifar_val.npz", "--input", "input=x", *PIXELS]),
    ("gpt", ["--data", "gpt_val.npz", "--input", "tokens=x"]),
    ("agnews", ["--data", "agnews_val.npz", "--input", "input_ids=ids", "--input", "attention_mask=mask"]),
    ("vocoder", ["--data", "vocoder_val.npz"]),
    ("commands", ["--data", "commands_val.npz", *SOUND]),
    ("ultraface_rfb_320", FACES),
    ("silero_vad", SPEECH),  # over the recording, with its recurrent state
]
SAMPLES = 64


def quality(ounce, model, small, feeding, runtime):
    document = run(ounce, "verify", model, small, *feeding, "--no-edge-cases", "--runtime", runtime, "--json", may_fail=(1,))
    states = [o.split("=")[1] for o in feeding if o.startswith("state=")]
    outputs = [o for o in document["results"][0]["outputs"] if o["name"] not in states]
    return min(o["sqnr_db"] if o["sqnr_db"] is not None else 999.0 for o in outputs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--only", default="")
    parser.add_argument("--runtimes", default="1.22.0,1.30.0")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args()
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    runtimes = options.runtimes.split(",")
    failures = []
    print(f"{'model':18} {'data':4} {'size':>6}  {'  '.join('dB@' + r for r in runtimes)}  in FP32  fp16 speed  w16 speed")
    for name, feeding in ROWS:
        if options.only and name not in options.only.split(","):
            continue
        folder = EXAMPLES if name == "commands" else zoo
        model = os.path.join(folder, name + ".onnx")
        feeding = places(feeding, folder)
        if "--carry" not in feeding:
            feeding += ["--samples", str(SAMPLES)]
        with tempfile.TemporaryDirectory() as scratch:
            for data in ([], feeding):
                small, stored = os.path.join(scratch, "fp16.onnx"), os.path.join(scratch, "w16.onnx")
                made = run(options.ounce, "quantize", model, "-o", small, "--to", "fp16", "--no-verify" if not data else "--verify",
                           *data, "--json")
                run(options.ounce, "quantize", model, "-o", stored, "--to", "w16", "--no-verify", "--json")
                nodes = made["results"][0]["nodes"]
                in_floats = sum(node["arithmetic"] == "float" for node in nodes)
                size = os.path.getsize(small) / os.path.getsize(model)
                sqnr = [quality(options.ounce, model, small, feeding, runtime) for runtime in runtimes]
                speeds = [f"{'':>10}", f"{'':>9}"]
                if data:
                    figures = run(options.ounce, "bench", model, small, stored, "--threads", "1", "--seconds", str(options.seconds),
                                  *[o for o in feeding if o != "--labels"], "--json")["results"][0]["models"]
                    ratios = [figure["batches"][0]["speed_up"]["ratio"] for figure in figures[1:]]
                    speeds = [f"{ratios[0]:10.2f}", f"{ratios[1]:9.2f}"]
                print(f"{name:18} {'yes' if data else 'no':4} {size:6.4f}  {'  '.join(f'{db:9.1f}' for db in sqnr)}  "
                      f"{in_floats:3}/{len(nodes):3}  {'  '.join(speeds)}", flush=True)
                if size > LARGEST:
                    failures.append(f"{name}: size {size:.4f} > {LARGEST}")
                failures += [f"{name}: {db:.1f} dB < {LEAST_DB} in {r}" for db, r in zip(sqnr, runtimes) if db < LEAST_DB]
    for failure in failures:
        print("out of bounds:", failure)
    return 1 if failures and options.gate else 0


if __name__ == "__main__":
    sys.exit(main())
