#!/usr/bin/env python3
"""Runs INT8 models made on this CPU on x64 without VNNI and on arm64, with and without reduced weight ranges.

usage: OUNCE_ZOO=folder bench/cpus.py [--ounce build/ounce] [--only kws,gpt] [--seconds 5] [--on avx2,avx512,arm64] [--runtime 1.22.0]
       [--gate]

Each model is quantized to int8 and int8-dynamic twice: by default (scales that do not saturate on any CPU) and with
--no-reduce-range (all 8 bits). `ounce verify --on` compares the outputs on the other CPUs with those on this one, `ounce bench`
compares the speed of both on this CPU. The loss from reduced ranges is the difference of two columns. --gate exits with 1 if the
outputs of a default model on two CPUs differ by less than 60 dB SQNR or change predictions that the original does not change,
or if it loses more than 1 dB or any of its metric.
"""

import argparse
import os
import sys
import tempfile

from int8 import EXAMPLES, ROWS, places, run

IMAGES = ["--size", "320", "--layout", "nchw", "--rescale", "1/255"]
WORDS = ["--data", "ner_val.npz"]
MORE = {  # calibration, validation
    "ner": ([*WORDS, "--input", "input_ids=calib_input_ids", "--input", "attention_mask=calib_attention_mask"],
            [*WORDS, "--input", "input_ids=input_ids", "--input", "attention_mask=attention_mask"]),
    "detector": (["--data", "detector/calib", *IMAGES], ["--data", "detector/val", *IMAGES]),
}


def models():
    """Name, calibration, validation: the models of int8.py for static, and further ones."""
    found = {name: (calibration, validation) for name, form, calibration, validation, _ in ROWS if form == "int8"}
    return found | MORE


def in_folder(options, folder):
    return [os.path.join(folder, o) if o.startswith("detector/") else o for o in places(options, folder)]


def quality(entry):
    states = [o["name"] for o in entry["outputs"] if o["state"]]
    figures = {"sqnr": min(999.0 if o["exact"] else o["sqnr_db"] for o in entry["outputs"] if o["name"] not in states)}
    metrics = {m["name"]: m for m in entry["metrics"]}
    metric = metrics.get("nll") or metrics.get("top1_accuracy")
    if metric:
        figures["metric"] = metric["candidate"]
        figures["drop"] = metric["drop"]
    agreement = entry["outputs"][0].get("top1_agreement")
    if agreement is not None:
        figures["agreement"] = agreement
    return figures


def shown(figures):
    text = f"{figures['sqnr']:6.1f}"
    for key in ("agreement", "metric"):
        text += f" {figures[key]:7.4f}" if key in figures else f" {'-':>7}"
    return text


def on(cpu):
    if not cpu["run"]:
        return "not run"
    if cpu["exact"]:
        return "equal"
    return f"{cpu['sqnr_db']:.0f} dB" + (f", {cpu['flips']}/{cpu['answers']} flip" if cpu["flips"] else "")


def faults(name, default, full, cpus):
    for cpu in cpus:
        if not cpu["run"]:
            continue
        floor = 60 if cpu["reference_sqnr_db"] is None else min(60, cpu["reference_sqnr_db"])
        if not cpu["exact"] and cpu["sqnr_db"] < floor:
            yield f"{name}: {cpu['sqnr_db']:.1f} dB on {cpu['cpu']}"
        if cpu["flips"] > cpu["reference_flips"]:
            yield f"{name}: {cpu['flips']} predictions change on {cpu['cpu']}"
    if default["sqnr"] < full["sqnr"] - 1:
        yield f"{name}: {full['sqnr'] - default['sqnr']:.1f} dB lost"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--on", default="avx2,avx512,arm64")
    parser.add_argument("--runtime", default="", help="the release that verify runs in, here and there")
    parser.add_argument("--gate", action="store_true")
    arguments = parser.parse_args()
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    wanted = arguments.only.split(",") if arguments.only else None
    found = []
    names = arguments.on.split(",")
    print(f"{'':26} all 8 bits: dB, agree, metric, on {names[0]:<16}   default: dB, agree, metric, faster than 8 bits"
          + "".join(f", on {name}" for name in names))
    with tempfile.TemporaryDirectory() as scratch:
        for name, (calibration, validation) in models().items():
            for form in ("int8", "int8-dynamic"):
                if wanted and name not in wanted and f"{name}.{form}" not in wanted:
                    continue
                folder = EXAMPLES if name == "commands" else zoo
                model = os.path.join(folder, f"{name}.onnx")
                made = {}
                for kind, options in (("full", ["--no-reduce-range"]), ("default", [])):
                    made[kind] = os.path.join(scratch, f"{name}.{form}.{kind}.onnx")
                    data = in_folder(calibration, folder) if form == "int8" or "--carry" in calibration else []
                    run(arguments.ounce, "quantize", model, "--to", form, *data, "-o", made[kind], "--json", "--on", "none",
                        *options)
                entries = {}
                for kind, cpus in (("full", names[0]), ("default", arguments.on)):
                    document = run(arguments.ounce, "verify", model, made[kind], *in_folder(validation, folder),
                                   "--no-edge-cases", "--json", "--on", cpus,
                                   *(["--runtime", arguments.runtime] if arguments.runtime else []), may_fail=(1,))
                    entries[kind] = document["results"][0]
                feeding = [o for o in validation if o not in ("--metric", "nll")]
                timing = run(arguments.ounce, "bench", made["full"], made["default"], *in_folder(feeding, folder), "--json",
                             "--seconds", str(arguments.seconds), "--cold-starts", "0")
                speed = timing["results"][0]["models"][1]["batches"][0]["speed_up"]["ratio"]
                full, default = quality(entries["full"]), quality(entries["default"])
                print(f"{name:18}{form:8}{shown(full)}  {on(entries['full']['cpus'][0]):22}"
                      f"{shown(default)}  {speed:5.2f}  " + "  ".join(f"{on(cpu):14}" for cpu in entries["default"]["cpus"]),
                      flush=True)
                found += faults(f"{name} {form}", default, full, entries["default"]["cpus"])
    for fault in found:
        print("MISSED", fault)
    sys.exit(1 if found and arguments.gate else 0)


if __name__ == "__main__":
    main()
