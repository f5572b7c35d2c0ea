#!/usr/bin/env python3
"""INT8 speed on networks for phones, with quality on data that calibration has not seen.

usage: bench/phones.py FOLDER [--ounce build/ounce] [--before OTHER/ounce] [--only mobilenetv3_224,vocoder] [--gate] [--under COMMAND]
                       [options of quantize]

FOLDER contains the models of bench/phone_models.py, and for trained networks those of bench/studies/train_phone_models.py; the
other models come from OUNCE_ZOO. Each model is quantized to static INT8 with the defaults, and with the program of --before if
given. All of them are timed against FP32 in one run, interleaved. `share` is the share of time in kernels that multiply
integers (`bench --profile`). --gate: exit 1 if a bound is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

SOUND = ["--rescale", "1/32768"]
PIXELS = ["--layout", "nchw", "--rescale", "1/255", "--mean", ".4914,.4822,.4465", "--std", ".247,.2435,.2616"]
IMAGES = ["--size", "320", "--layout", "nchw", "--rescale", "1/255"]
MADE = (["--input", "input=calib"], ["--input", "input=judge"])

# model, calibration and validation data; bounds
ROWS = [
    ("mobilenetv3_32", MADE, {"speed": 1.15, "agreement": .99, "share": .7}),
    ("mobilenetv3_224", MADE, {"speed": 1.3, "agreement": .99, "share": .7}),
    ("efficientnet_32", MADE, {"speed": 1.4, "sqnr": 22}),
    ("efficientnet_224", MADE, {"speed": 1.4, "sqnr": 22}),
    ("mobilenetv3_trained", MADE, {"speed": 1.15, "agreement": .99, "share": .7}),
    ("mobilenetv3_224_trained", MADE, {"speed": 1.3, "agreement": .99, "share": .7}),
    ("efficientnet_trained", MADE, {"speed": 1.4, "sqnr": 22}),
    ("wavenet", MADE, {}),
    ("upscaler", MADE, {}),
    ("vocoder", (["--samples", "60"], ["--first", "60"]), {"speed": 2.5, "sqnr": 25, "share": .7}),
    ("detector", (["calib", *IMAGES], ["val", *IMAGES]), {"share": .7}),
    ("mobilenetv2", (["--input", "input=calib", *PIXELS], ["--input", "input=x", *PIXELS]), {"speed": 2.1}),
    ("kws", (["--input", "audio=calib", *SOUND], ["--input", "audio=audio", *SOUND]), {"speed": 3.9}),
]
ZOO_DATA = {"vocoder": "vocoder_val.npz", "mobilenetv2": "cifar_val.npz", "kws": "kws_val.npz", "detector": "detector"}


def run(*arguments, may_fail=()):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode not in (0, *may_fail):
        sys.exit(f"{' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def judged(ounce, model, small, judge):
    entry = run(ounce, "verify", model, small, *judge, "--no-edge-cases", "--json", may_fail=(1,))["results"][0]
    figures = {"sqnr": min(999. if o["sqnr_db"] is None else o["sqnr_db"] for o in entry["outputs"])}
    agreement = entry["outputs"][0].get("top1_agreement")
    return figures | ({} if agreement is None else {"agreement": agreement})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--before")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", default="4")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--under", default="", help="a command in front of the timing, such as 'chrt -f 10' on a busy machine")
    arguments, options = parser.parse_known_args()
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    programs = [p for p in (arguments.before, arguments.ounce) if p]
    missed = 0
    print(f"{'model':23} {'program':8} {'size':>5} {'SQNR':>6} {'agree':>6} {'speed':>6} {'share':>6}   bounds")
    with tempfile.TemporaryDirectory() as scratch:
        for name, (calibration, judge), bounds in ROWS:
            if arguments.only and name not in arguments.only.split(","):
                continue
            folder = zoo if name in ZOO_DATA else arguments.folder
            model = os.path.join(folder, name + ".onnx")
            if name.endswith("_trained") and not os.path.exists(model):
                continue
            data = ["--data", os.path.join(folder, ZOO_DATA.get(name, name + ".npz"))]
            if name == "detector":  # each is a folder of images
                calibration, judge = ([f"{data[1]}/{side[0]}", *side[1:]] for side in (calibration, judge))
                data = ["--data"]
            smalls = []
            for i, program in enumerate(programs):
                smalls.append(os.path.join(scratch, f"{name}.{i}.onnx"))
                run(program, "quantize", model, "--to", "int8", *data, *calibration, "-o", smalls[-1], "--json", "--on", "none", *options)
            timing = run(*arguments.under.split(), arguments.ounce, "bench", model, *smalls, *data, *judge, "--json", "--profile", "--cold-starts", "0", "-t", arguments.seconds)
            for program, small, timed in zip(programs, smalls, timing["results"][0]["models"][1:]):
                figures = judged(arguments.ounce, model, small, data + judge)
                figures |= {"speed": timed["batches"][0]["speed_up"]["ratio"], "share": timed["profile"]["integer_share"]}
                is_ours = program == arguments.ounce
                verdicts = [f"{key} {'ok' if figures[key] >= bound else 'MISSED'} ({bound})" for key, bound in bounds.items() if is_ours]
                missed += sum("MISSED" in verdict for verdict in verdicts)
                print(f"{name:23} {'now' if is_ours else 'before':8} {os.path.getsize(small) / os.path.getsize(model):5.3f} {figures['sqnr']:6.2f} "
                      f"{figures.get('agreement', float('nan')):6.4f} {figures['speed']:6.2f} {figures['share']:6.2f}   {', '.join(verdicts)}", flush=True)
    sys.exit(1 if missed and arguments.gate else 0)


if __name__ == "__main__":
    main()
