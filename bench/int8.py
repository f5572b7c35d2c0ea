#!/usr/bin/env python3
"""Static and dynamic INT8 on the benchmark models: size, quality and speed against FP32, with their bounds.

usage: OUNCE_ZOO=folder bench/int8.py [--ounce build/ounce] [--only kws,gpt] [--gate] [--seconds 10] [-- quantize options …]

Quality is measured by `ounce verify` on data that calibration has not seen, speed by `ounce bench` on one thread with the
models interleaved. `ounce quantize` gets no options except --to, --data and those that map the data to the model. --gate
exits with 1 if a figure is out of its bounds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "commands")
PIXELS = ["--layout", "nchw", "--rescale", "1/255", "--mean", ".4914,.4822,.4465", "--std", ".2470,.2435,.2616"]
SOUND = ["--rescale", "1/32768"]
FACES = ["--data", "faces", "--size", "240x320", "--layout", "nchw", "--mean", "127", "--std", "128"]
SPEECH = ["--data", "silero_test.wav", "--for", "input", *SOUND, "--frame", "576", "--hop", "512", "--set", "sr=16000",
          "--carry", "state=stateN"]

# model, format, calibration, validation, options of verify, (figure, bound) …
ROWS = [
    ("kws", "int8", ["--data", "kws_val.npz", "--input", "audio=calib", *SOUND],
     ["--data", "kws_val.npz", "--input", "audio=audio", *SOUND, "--labels", "y"],
     {"accuracy": 1.0, "sqnr": 24, "speed": 3.6, "size": .31}),
    ("mobilenetv2", "int8", ["--data", "cifar_val.npz", "--input", "input=calib", *PIXELS],
     ["--data", "cifar_val.npz", "--input", "input=x", *PIXELS, "--labels", "y"],
     {"agreement": .992, "speed": 1.85, "size": .275}),
    ("gpt", "int8-dynamic", [],
     ["--data", "gpt_val.npz", "--input", "tokens=x", "--labels", "y", "--metric", "nll", "--samples", "96"],
     {"nll": 1.4170, "speed": 1.75, "size": .27}),
    ("gpt", "int8", ["--data", "gpt_val.npz", "--input", "tokens=calib"],
     ["--data", "gpt_val.npz", "--input", "tokens=x", "--labels", "y", "--metric", "nll", "--samples", "96"], {}),
    ("agnews", "int8-dynamic", [],
     ["--data", "agnews_val.npz", "--input", "input_ids=ids", "--input", "attention_mask=mask", "--labels", "label"],
     {"agreement": .9975, "speed": 1.4, "size": .26}),
    ("agnews", "int8", ["--data", "agnews_val.npz", "--input", "input_ids=calib_ids", "--input", "attention_mask=calib_mask"],
     ["--data", "agnews_val.npz", "--input", "input_ids=ids", "--input", "attention_mask=mask", "--labels", "label"], {}),
    ("vocoder", "int8", ["--data", "vocoder_val.npz", "--samples", "60"],
     ["--data", "vocoder_val.npz", "--first", "60"], {"sqnr": 22, "speed": 1.6, "size": .28}),
    ("commands", "int8", ["--data", "commands_calib.npz", *SOUND],
     ["--data", "commands_val.npz", *SOUND, "--labels", "label"], {"drop": .005, "speed": 2, "size": .30}),
    ("ultraface_rfb_320", "int8", FACES, FACES, {"sqnr": 20}),
    ("ultraface_rfb_320", "int8-dynamic", [], FACES, {"sqnr": 20}),
    ("silero_vad", "int8", SPEECH, SPEECH, {"sqnr": 20}),  # over the recording, with its recurrent state
    ("silero_vad", "int8-dynamic", SPEECH, SPEECH, {"sqnr": 20}),
]


def run(*arguments, may_fail=()):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode not in (0, *may_fail):
        sys.exit(f"{' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def places(options, folder):
    return [os.path.join(folder, o) if o.endswith((".npz", ".wav")) or o == "faces" else o for o in options]


def measure(ounce, folder, model, small, calibration, validation, seconds):
    document = run(ounce, "verify", model, small, *places(validation, folder), "--no-edge-cases", "--json", may_fail=(1,))
    entry = document["results"][0]
    states = [o.split("=")[1] for o in validation if o.startswith("state=")]
    figures = {"size": os.path.getsize(small) / os.path.getsize(model),
               "sqnr": min(output["sqnr_db"] if output["sqnr_db"] is not None else 999.0 for output in entry["outputs"]
                           if output["name"] not in states)}
    agreements = [output.get("top1_agreement") for output in entry["outputs"]]
    if agreements[0] is not None:
        figures["agreement"] = agreements[0]
    for metric in entry["metrics"]:
        if metric["name"] == "top1_accuracy":
            figures |= {"accuracy": metric["candidate"], "drop": metric["reference"] - metric["candidate"]}
        if metric["name"] == "nll":
            figures["nll"] = metric["candidate"]
    feeding = [o for o in validation if o not in ("--metric", "nll")]
    timing = run(ounce, "bench", model, small, *places(feeding, folder), "--json", "--seconds", str(seconds))
    figures["speed"] = timing["results"][0]["models"][1]["batches"][0]["speed_up"]["ratio"]
    return figures


def is_kept(figure, value, bound):
    return value <= bound if figure in ("size", "nll", "drop") else value >= bound


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--only", default="")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    wanted = arguments.only.split(",") if arguments.only else None
    missed = 0
    print(f"{'model':18} {'format':12} {'size':>6} {'SQNR':>7} {'agree':>7} {'metric':>8} {'speed':>6}   bounds")
    with tempfile.TemporaryDirectory() as scratch:
        for name, form, calibration, validation, bounds in ROWS:
            if wanted and name not in wanted and f"{name}.{form}" not in wanted:
                continue
            folder = EXAMPLES if name == "commands" else zoo
            model, small = os.path.join(folder, f"{name}.onnx"), os.path.join(scratch, f"{name}.{form}.onnx")
            run(arguments.ounce, "quantize", model, "--to", form, *places(calibration, folder), "-o", small, "--json",
                *arguments.options)
            f = measure(arguments.ounce, folder, model, small, calibration, validation, arguments.seconds)
            verdicts = [f"{figure} {'ok' if is_kept(figure, f[figure], bound) else 'MISSED'} ({bound})"
                        for figure, bound in bounds.items()]
            missed += sum("MISSED" in verdict for verdict in verdicts)
            metric = f.get("nll", f.get("accuracy"))
            print(f"{name:18} {form:12} {f['size']:6.3f} {f['sqnr']:7.2f} {f.get('agreement', float('nan')):7.4f} "
                  f"{metric if metric is not None else float('nan'):8.4f} {f['speed']:6.2f}   {', '.join(verdicts)}", flush=True)
    sys.exit(1 if missed and arguments.gate else 0)


if __name__ == "__main__":
    main()
