#!/usr/bin/env python3
"""Measures how often models of `ounce tune` pass their gate on unseen data, compared with the stated confidence.

usage: OUNCE_ZOO=folder bench/gates.py [--ounce build/ounce] [--only kws,mobilenetv2] [--splits 8] [--budget '12 models']
                                       [--confidence none,90%] [--objective balanced] [--seed 0] [--verify] [--gate]

The data of a model is shuffled (with a fixed seed) and split: tune gets the first part and only a gate, and its result is
judged by the same gate on the rest, which is a few times as large. This is repeated for a number of splits and each
confidence. --verify replaces the search: 4-bit models whose quality is near the gate are judged by `ounce verify` on a part,
on the samples alone and with 90 % confidence, and then on the rest. --gate exits with 1 if a smaller share of the written
models than stated passes. Needs numpy (pip).
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict

import numpy

from int8 import EXAMPLES, PIXELS, SOUND, run

# name: data, arrays that belong together (input or label: its consecutive fields), samples to tune on, options, gate
CASES = {
    "mobilenetv2": ("cifar_val.npz", {"input": ["x"]}, 320, PIXELS, ["--min-agreement", "99%"]),
    "kws": ("kws_val.npz", {"audio": ["audio", "calib"]}, 320, SOUND, ["--min-agreement", "99%"]),
    "commands": ("commands_val.npz", {"audio": ["audio"], "label": ["label"]}, 160, [*SOUND, "--labels", "label"],
                 ["--max-drop", "3%"]),
    "agnews": ("agnews_val.npz", {"input_ids": ["ids"], "attention_mask": ["mask"]}, 400, [], ["--min-agreement", "99%"]),
}


def cut(source, arrays, count, generator, folder):
    """Paths of the two parts of a split."""
    with numpy.load(source) as data:
        whole = {name: numpy.concatenate([data[field] for field in fields]) for name, fields in arrays.items()}
    order = generator.permutation(len(next(iter(whole.values()))))
    paths = []
    for name, chosen in (("tune", order[:count]), ("rest", order[count:])):
        paths.append(os.path.join(folder, f"{name}.npz"))
        numpy.savez(paths[-1], **{field: values[chosen] for field, values in whole.items()})
    return paths


def tuned(arguments, model, data, options, gate, confidence, output):
    """The document of tune for a model, with or without a result."""
    return run(arguments.ounce, "tune", model, "--data", data, *options, *gate, "--confidence", confidence, "--budget",
               arguments.budget, "--objective", arguments.objective, "--no-cache", "--on", "none", "-o", output, "--json",
               may_fail=(1,))["results"][0]


def holds(arguments, model, output, data, options, gate):
    done = subprocess.run([arguments.ounce, "verify", model, output, "--data", data, *options, *gate, "--no-edge-cases"],
                          capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(done.stderr)
    return done.returncode == 0


# name: data, arrays, samples of the first part, options, gate near which w4 is
NEAR = {
    "kws": ("kws_val.npz", {"audio": ["audio", "calib"]}, 200, SOUND, ["--min-agreement", "99%"]),
    "commands": ("commands_val.npz", {"audio": ["audio"]}, 100, SOUND, ["--min-agreement", "97.5%"]),
}


def verify_splits(arguments, zoo):
    """Prints how often models that passed on a part pass on the rest, as lines of a table."""
    print("| model | gate | judged on, compared with | confidence | splits | passed | passed on the rest |\n|---|---|---|---|---|---|---|",
          flush=True)
    for name, (data, arrays, count, options, gate) in NEAR.items():
        if arguments.only and name not in arguments.only.split(","):
            continue
        folder = EXAMPLES if name == "commands" else zoo
        model = os.path.join(folder, f"{name}.onnx")
        passed, held = defaultdict(int), defaultdict(int)
        with tempfile.TemporaryDirectory() as scratch:
            small = os.path.join(scratch, "small.onnx")
            run(arguments.ounce, "quantize", model, "--to", "w4", "-o", small, "--json")
            for split in range(arguments.splits):
                part, rest = cut(os.path.join(folder, data), arrays, count,
                                 numpy.random.default_rng([arguments.seed, split]), scratch)
                found = run(arguments.ounce, "verify", model, small, "--data", part, *options, *gate, "--no-edge-cases", "--json",
                            may_fail=(1,))["results"][0]
                good = holds(arguments, model, small, rest, options, gate)
                for confidence, is_fine in (("none", found["passed"]), ("90%", found["passed"] and found["certain"])):
                    passed[confidence] += is_fine
                    held[confidence] += is_fine and good
                print(f"{name}: split {split + 1}: {dict(passed)} {dict(held)}", file=sys.stderr, flush=True)
        for confidence in ("none", "90%"):
            print(f"| {name}, w4 | `{' '.join(gate)}` | {count}, the rest | {confidence} | {arguments.splits} | "
                  f"{passed[confidence]} | {held[confidence]} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--only", default="")
    parser.add_argument("--splits", type=int, default=8, help="of each model")
    parser.add_argument("--budget", default="12 models")
    parser.add_argument("--confidence", default="none,90%")
    parser.add_argument("--objective", default="balanced")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--gate", action="store_true")
    arguments = parser.parse_args()
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    if arguments.verify:
        verify_splits(arguments, zoo)
        return
    confidences = arguments.confidence.split(",")
    written, held, tries = defaultdict(int), defaultdict(int), defaultdict(int)
    print("| model | gate | tuned on, judged on | confidence | splits | written | passed on the rest | written models |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name, (data, arrays, count, options, gate) in CASES.items():
        if arguments.only and name not in arguments.only.split(","):
            continue
        folder = EXAMPLES if name == "commands" else zoo
        model = os.path.join(folder, f"{name}.onnx")
        kinds = defaultdict(lambda: defaultdict(int))
        mine = {confidence: [0, 0] for confidence in confidences}
        for split in range(arguments.splits):
            with tempfile.TemporaryDirectory() as scratch:
                tune, rest = cut(os.path.join(folder, data), arrays, count,
                                 numpy.random.default_rng([arguments.seed, split]), scratch)
                sizes = (count, len(numpy.load(rest)[next(iter(arrays))]))
                for confidence in confidences:
                    output = os.path.join(scratch, "out.onnx")
                    document = tuned(arguments, model, tune, options, gate, confidence, output)
                    tries[confidence] += 1
                    if not document["passed"]:
                        kinds[confidence]["nothing"] += 1
                        continue
                    kinds[confidence][document["best"]["name"].split(",")[0]] += 1
                    good = holds(arguments, model, output, rest, options, gate)
                    mine[confidence][0] += 1
                    mine[confidence][1] += good
                    os.remove(output)
                print(f"{name}: split {split + 1}: written, held: {mine}", file=sys.stderr, flush=True)
        for confidence in confidences:
            count_written, count_held = mine[confidence]
            written[confidence] += count_written
            held[confidence] += count_held
            what = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds[confidence].items()))
            print(f"| {name} | `{' '.join(gate)}` | {sizes[0]}, {sizes[1]} | {confidence} | {arguments.splits} | "
                  f"{count_written} | {count_held} | {what} |", flush=True)
    broken = False
    for confidence in confidences:
        share = held[confidence] / written[confidence] if written[confidence] else 1
        stated = 0 if confidence == "none" else float(confidence.rstrip("%")) / 100
        broken = broken or share < stated
        print(f"| all | | | {confidence} | {tries[confidence]} | {written[confidence]} | {held[confidence]} ({share:.0%}) | |")
    sys.exit(1 if broken and arguments.gate else 0)


if __name__ == "__main__":
    main()
