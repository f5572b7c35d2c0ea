#!/usr/bin/env python3
"""Judges `ounce tune` on the benchmark models with unseen data, against the best manual quantization with a baseline tool.

usage: OUNCE_ZOO=folder bench/tune.py [--ounce build/ounce] [--only kws,gpt] [--budget 10m] [--objective balanced] [--peer]
                                      [--gate] [--seconds 10] [--keep FOLDER] [--confidence none]
       bench/tune.py --foreign FOLDER …          models of bench/studies/foreign_models.py

Each model is tuned with a part of its data and only a gate. Then `ounce verify` judges the result on the other part with the
same gate, and `ounce bench` runs original, result and baseline interleaved on one thread. --peer makes the baseline's model with
onnxruntime.quantization (numpy, onnx, onnxruntime by pip) and measures it in the same runs; without it the result is compared
with the figures in PUBLISHED, whose speeds are from another machine.

--gate exits with 1 unless the gate passes on the unseen data, the result is not slower than the original, and compared with the
baseline (measured, else published) it is at least as fast (tolerance 3 %) and as good (tolerance half a point or half a percent)
and not larger.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import dataclass, field

from int8 import EXAMPLES, FACES, PIXELS, SOUND, SPEECH, places, run

SPEED_NOISE, QUALITY_NOISE, SQNR_NOISE = .03, .005, .5


@dataclass
class Row:
    name: str
    model: str
    tune: list  # options of the data for tune
    judge: list  # options of the unseen data
    gate: list
    metric: list = field(default_factory=list)
    folder: str = ""


@dataclass
class Figures:
    who: str
    size: float
    quality: dict  # accuracy, agreement, nll
    sqnr: float = None
    speed: float = None
    interval: tuple = None
    seconds: float = None
    verdict: str = ""


# name: mapping of data to inputs, data for tune, unseen data, gate, options of the metric
ZOO = {
    "mobilenetv2": (["--data", "cifar_val.npz", "--input", "input=x", *PIXELS, "--labels", "y"],
                    ["--samples", "500"], ["--first", "500"], ["--max-drop", "0.5%"], []),
    "kws": (["--data", "kws_val.npz", "--input", "audio=audio", *SOUND, "--labels", "y"],
            ["--samples", "100"], ["--first", "100"], ["--max-drop", "0.5%"], []),
    "vocoder": (["--data", "vocoder_val.npz"], ["--samples", "60"], ["--first", "60"], ["--min-sqnr", "30"], []),
    "gpt": (["--data", "gpt_val.npz", "--input", "tokens=x", "--labels", "y"],
            ["--first", "96", "--samples", "96"], ["--samples", "96"], ["--max-drop", "0.5%"], ["--metric", "nll"]),
    "agnews": (["--data", "agnews_val.npz", "--input", "input_ids=ids", "--input", "attention_mask=mask", "--labels", "label"],
               ["--samples", "400"], ["--first", "400"], ["--max-drop", "0.5%"], []),
    "commands": (["--data", "commands_val.npz", *SOUND, "--labels", "label"],
                 ["--samples", "96"], ["--first", "96"], ["--max-drop", "0.5%"], []),
    "ultraface_rfb_320": (FACES, ["--samples", "4"], ["--first", "4"], ["--min-sqnr", "30"], []),
    "silero_vad": (SPEECH, ["--samples", "900"], ["--first", "900"], ["--min-sqnr", "30"], []),
}

# The best manual results on all validation data; speed on a CPU with AVX512-VNNI, one thread.
PUBLISHED = {
    "mobilenetv2": Figures("baseline, published: static, percentile 99.999", .294, {"agreement": .992}, 32.9, 1.85),
    "kws": Figures("baseline, published: static, percentile 99.99", .366, {"accuracy": 1.0}, 23.0, 3.7),
    "vocoder": Figures("baseline, published: weights only, per tensor", .255, {}, 25.9, .97),
    "gpt": Figures("baseline, published: dynamic", .284, {"nll": 1.4163}, 38.8, 1.75),
    "agnews": Figures("baseline, published: dynamic", .263, {"accuracy": .8483, "agreement": .9975}, 43.4, 1.44),
}
# Targets for models for which the baseline's best result is not usable.
TARGETS = {"vocoder": Figures("target", .30, {}, 30.0, 1.3)}


def zoo_rows():
    zoo = os.environ.get("OUNCE_ZOO") or sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    for name, (feeding, tune, judge, gate, metric) in ZOO.items():
        folder = EXAMPLES if name == "commands" else zoo
        feeding = places(feeding, folder)
        yield Row(name, os.path.join(folder, f"{name}.onnx"), feeding + tune, feeding + judge, gate, metric, folder)


def foreign_rows(folder):
    with open(os.path.join(folder, "models.json")) as file:
        for entry in json.load(file):
            yield Row(entry["name"], entry["model"], entry["tune"], entry["judge"], entry["gate"])


def tuned(arguments, row, output, cache):
    """The document of tune; None if nothing passed."""
    document = run(arguments.ounce, "tune", row.model, *row.tune, *row.metric, *row.gate, "--objective", arguments.objective,
                   "--budget", arguments.budget, "--confidence", arguments.confidence, "--cache", cache, "-o", output, "--json",
                   may_fail=(1,))["results"][0]
    return document if document["passed"] else None


def judged(arguments, row, candidates):
    """Figures of each candidate (who, path) on unseen data."""
    paths = [path for _, path in candidates]
    verified = run(arguments.ounce, "verify", row.model, *paths, *row.judge, *row.metric, *row.gate, "--no-edge-cases", "--json",
                   may_fail=(1,))["results"]
    timed = run(arguments.ounce, "bench", row.model, *paths, *row.judge, "--seconds", str(arguments.seconds), "--cold-starts", "0",
                "--threads", "1", "--json")["results"][0]["models"][1:]
    found = []
    for (who, path), quality, timing in zip(candidates, verified, timed):
        speed = timing["batches"][0]["speed_up"]
        outputs = [output for output in quality["outputs"] if not output["state"]]
        found.append(Figures(who, os.path.getsize(path) / os.path.getsize(row.model), qualities(quality, outputs, row),
                             least_sqnr(outputs), speed["ratio"], (speed["low"], speed["high"]),
                             verdict="" if quality["passed"] else "; ".join(quality["failures"] or [quality["verdict"]])))
    return found


def least_sqnr(outputs):
    """SQNR of the worst output; None if it is exact."""
    return min((output["sqnr_db"] for output in outputs if output["sqnr_db"] is not None), default=None)


def qualities(quality, outputs, row):
    names = {"top1_accuracy": "accuracy", "nll": "nll"}
    found = {names[metric["name"]]: metric["candidate"] for metric in quality["metrics"] if metric["name"] in names}
    classifies = "--labels" in row.judge and "nll" not in found or "--min-agreement" in row.gate
    if classifies and outputs[0]["top1_agreement"] is not None:
        found["agreement"] = outputs[0]["top1_agreement"]
    return found


def broken_promises(result, other):
    """The ways in which a result is worse than another one."""
    broken = []
    if result.size > other.size:
        broken.append(f"larger than {other.size:.3f}")
    if result.speed < other.speed * (1 - SPEED_NOISE):
        broken.append(f"slower than {other.speed:.2f}")
    for name, value in other.quality.items():
        mine = result.quality.get(name)
        if mine is None:
            continue
        if mine > value * (1 + QUALITY_NOISE) if name == "nll" else mine < value - QUALITY_NOISE:
            broken.append(f"{name} worse than {value:.4f}")
    if not other.quality and other.sqnr is not None and result.sqnr is not None and result.sqnr < other.sqnr - SQNR_NOISE:
        broken.append(f"less than {other.sqnr:.1f} dB")
    return broken


def promises_of(row, result, peer):
    broken = [f"gate: {result.verdict}"] if result.verdict else []
    if result.interval[1] < 1 and result.speed < 1 - SPEED_NOISE:
        broken.append("slower than the original")
    for other in (TARGETS.get(row.name) or peer or PUBLISHED.get(row.name),):
        broken += [f"{other.who.split(':')[0]}: {what}" for what in broken_promises(result, other)] if other else []
    return broken


def table_line(name, figures, verdict):
    def shown(value, form):
        return format(value, form) if value is not None else ""
    quality = ", ".join(f"{key} {value:.4f}" for key, value in figures.quality.items())
    interval = f" ({figures.interval[0]:.2f} … {figures.interval[1]:.2f})" if figures.interval else ""
    return (f"| {name} | {figures.who} | {figures.size:.3f} | {quality} | {shown(figures.sqnr, '.1f')} | "
            f"{shown(figures.speed, '.2f')}{interval} | {shown(figures.seconds, '.0f')} | {verdict} |")


def peer_of(row, scratch):
    """Makes the baseline's model; returns its path, or None and the error."""
    import tune_peer
    path = os.path.join(scratch, f"{row.name}.peer.onnx")
    try:
        return (path, "") if row.folder and tune_peer.make(row.name, row.model, row.folder, path) else (None, "")
    except Exception as error:  # any error of the baseline is reported in its row
        return None, f"{type(error).__name__}: {error}"


def report(arguments, row, scratch):
    """Prints the rows of a model; returns the number of violations."""
    output = os.path.join(scratch, f"{row.name}.tuned.onnx")
    document = tuned(arguments, row, output, os.path.join(scratch, "cache"))
    peer_path, trouble = peer_of(row, scratch) if arguments.peer else (None, "")
    candidates = [(f"tuned: {document['best']['name']}", output)] if document else []
    candidates += [("baseline, here", peer_path)] if peer_path else []
    figures = judged(arguments, row, candidates) if candidates else []
    peer = figures[-1] if peer_path else None
    broken = ["nothing passed"]
    if document:
        figures[0].seconds = document["duration_ns"] / 1e9
        broken = promises_of(row, figures[0], peer)
        print(table_line(row.name, figures[0], "; ".join(broken) or "holds"))
    else:
        print(f"| {row.name} | tuned | | | | | | nothing passed |")
    for other in (peer, PUBLISHED.get(row.name), TARGETS.get(row.name)):
        if other:
            print(table_line("", other, f"gate: {other.verdict}" if other.verdict else ""))
    if trouble:
        print(f"| | baseline, here | | | | | | {trouble.splitlines()[0]} |")
    sys.stdout.flush()
    return len(broken)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--only", default="")
    parser.add_argument("--foreign", default="")
    parser.add_argument("--budget", default="10m")
    parser.add_argument("--objective", default="balanced")
    # A hundred samples cannot show half a percent with confidence; gates.py tests confidence.
    parser.add_argument("--confidence", default="none")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--keep", default="", help="folder for the models and tune's measurements (default: a temporary one)")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--gate", action="store_true")
    arguments = parser.parse_args()
    rows = [row for row in (foreign_rows(arguments.foreign) if arguments.foreign else zoo_rows())
            if not arguments.only or row.name in arguments.only.split(",")]
    print("| model | who | size | quality | SQNR dB | speed-up | seconds | verdict |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        if arguments.keep:
            os.makedirs(arguments.keep, exist_ok=True)
        broken = sum(report(arguments, row, arguments.keep or temporary) for row in rows)
    sys.exit(1 if broken and arguments.gate else 0)


if __name__ == "__main__":
    main()
