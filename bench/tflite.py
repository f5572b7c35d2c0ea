#!/usr/bin/env python3
"""Quantizes .tflite models in every format and compares the results with those of a baseline in one run.

usage: OUNCE_ZOO=… OUNCE_MEDIAPIPE=… bench/tflite.py build/ounce [--peer FOLDER] [--work FOLDER] [--models kws …]
                                     [--formats w8 int8 …] [--keep] [--json FILE] [--gate]
       bench/tflite.py --show FILE.json …      the tables of runs that wrote --json, together

tflite_models.py lists the models, their data and the variables; tflite_peer.py fills the baseline's folder. The tables show for
each model and format the result of `ounce quantize`, or its message: size (relative to the published file), SQNR of each output
on data that calibration has not seen, the task's metric, speed against FP32, CPU seconds and peak memory of quantizing. LiteRT's
interpreter (tflite_runner.py) computes the outputs of all files; its CPU time is measured in alternating slots of FP32, Ounce
and the baseline. The work folder keeps the quality of files that were judged before; `--keep` also reuses its results of
`quantize`. --gate: exit 1 if a bound is missed.

Needs ai-edge-litert, numpy and pillow (pip), and LiteRT for ounce (./setup litert).
"""
import argparse
import hashlib
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import tflite_models
import tflite_runner

FORMATS = {"w8": [], "int8-dynamic": [], "int8": [], "w4": [], "w16": []}
NEEDS_DATA = {"int8"}
NOISE = .93  # a smaller speed-up counts as slower
# Additional bounds: (model, format) → bounds.
BOUNDS = {
    ("agnews", "int8"): {"metric": .835}, ("mobilenetv2", "int8"): {"sqnr": 30, "speed": 2.2}, ("kws", "int8"): {"metric": .99, "speed": 1},
    ("detector", "int8"): {"metric": .884, "speed": 3.2}, ("vocoder", "int8"): {"sqnr": 24, "speed": 2.5},
}
# Starts a program from a small process, so that the peak is the program's; prints CPU seconds and peak memory as the last line.
LAUNCHER = """
import os, sys
child = os.fork()
if not child: os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
print('\\nused', used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


def run(words, limit):
    """(exit code, stdout, stderr, CPU seconds, peak MB)"""
    try:
        done = subprocess.run([sys.executable, "-S", "-E", "-c", LAUNCHER, *map(str, words)], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return 124, "", f"no result after {limit} s", math.nan, math.nan
    text, _, used = done.stderr.rpartition("\nused ")
    cpu, peak = map(float, used.split()) if used else (math.nan, math.nan)
    return done.returncode, done.stdout, text.strip(), cpu, peak


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("INFO:")]
    return lines[-1][:300] if lines else ""


def make(ounce, model, kind, data, target, limit):
    """The result of quantize, {"path"} or {"reason"}, and its CPU time and memory."""
    words = [ounce, "quantize", model.path, "-o", target, "--to", kind, "--json", *FORMATS[kind]]
    if data and (kind in NEEDS_DATA or model.runs):
        words += ["--data", data[0]]
    if model.first_output_only and kind in NEEDS_DATA:  # the search judges what the table shows
        words += ["--outputs", tflite_runner.Session(model.path).output_names()[0]]
    if not model.runs:
        words += ["--no-verify"]
    target.unlink(missing_ok=True)
    code, out, error, cpu, peak = run(words, limit)
    row = {"exit": code, "cpu_s": cpu, "peak_mb": peak, "command": " ".join(map(str, words))}
    if code == 0 and target.exists():
        row |= {"path": str(target), "bytes": target.stat().st_size}
        try:
            document = json.loads(out)["results"][0]
            row["notes"] = document.get("notes", [])
        except (ValueError, KeyError, IndexError):
            row["notes"] = ["no JSON document"]
        if kind not in NEEDS_DATA:  # without the default trial, for comparison with the baseline, which has none
            bare = target.with_suffix(".bare.tflite")
            _, _, _, row["bare_cpu_s"], row["bare_peak_mb"] = run([*words[:4], bare, *words[5:], "--no-verify"], limit)
            bare.unlink(missing_ok=True)
    else:
        row["reason"] = last_line(error) or f"exit {code} without a message"
        if code == 0:
            row["silent"] = True
    return row


class Judge:
    """Quality of files on the unseen data of a model; results are kept in the work folder."""

    def __init__(self, model, base, work):
        self.model, self.base, self.names, self.reference = model, base, base.input_names(), None
        self.place = work / "judged.json"
        self.known = json.loads(self.place.read_text()) if self.place.exists() else {}

    def outputs_of(self, session):
        return tflite_runner.outputs_on(session, self.names, self.model.data.unseen)

    def of_base(self):
        if self.reference is None:
            self.reference = self.outputs_of(self.base)
        return self.reference

    def remembered(self, path, find):
        key = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
        if key not in self.known:
            self.known[key] = find()
            self.place.write_text(json.dumps(self.known))
        return self.known[key]

    def metric(self):
        return self.remembered(self.model.path, lambda: {"metric": self.model.judge(self.of_base(), self.model.data.truth)})["metric"]

    def __call__(self, path):
        session = tflite_runner.Session(path)
        session.set_sample([a[:1] for a in tflite_runner.ordered(self.names, self.model.data.unseen)])
        session.run()
        return session, self.remembered(path, lambda: self.compare(session))

    def compare(self, session):
        reference, found = self.of_base(), self.outputs_of(session)
        count = 1 if self.model.first_output_only else len(reference)
        result = {"sqnr": [tflite_runner.sqnr(a, b) for a, b in zip(reference[:count], found)]}
        if len(found) != len(reference):
            result["problem"] = f"{len(found)} outputs instead of {len(reference)}"
        if self.model.judge:
            result["metric"] = self.model.judge(found, self.model.data.truth)
        return result


def bench(options, model, peer):
    work = options.work / model.name
    work.mkdir(parents=True, exist_ok=True)
    data = tflite_models.write_data(model, work) if model.make_data else None
    original = model.path.stat().st_size
    result = {"model": model.name, "bytes": original, "ours": {}, "peer": {}}
    for kind in options.formats:
        target, kept = work / f"{kind}.tflite", work / f"{kind}.json"
        if options.keep and kept.exists():
            result["ours"][kind] = json.loads(kept.read_text())
        else:
            result["ours"][kind] = make(options.ounce, model, kind, data, target, options.limit)
            kept.write_text(json.dumps(result["ours"][kind]))
    for kind in [*options.formats, "int4-dynamic"]:
        row = peer / model.name / f"{kind}.json" if peer else None
        if row and row.exists():
            result["peer"][kind] = json.loads(row.read_text())
            path = row.with_suffix(".tflite")
            if "error" not in result["peer"][kind]:
                result["peer"][kind]["path"] = str(path)
    if not model.runs or data is None:
        result["why_not_judged"] = "the model cannot be run" if not model.runs else "no data"
        return result
    fixed = peer / model.name / "fixed.tflite" if peer else None
    base = tflite_runner.Session(model.path)
    judge = Judge(model, base, work)
    base.set_sample([a[:1] for a in tflite_runner.ordered(judge.names, model.data.unseen)])
    sessions = {"FP32": base}
    if fixed and fixed.exists():  # the same model with FP32 weights
        sessions["FP32 unpacked"] = tflite_runner.Session(fixed)
        sessions["FP32 unpacked"].set_sample([a[:1] for a in tflite_runner.ordered(judge.names, model.data.unseen)])
    if model.judge:
        result["metric_name"], result["metric"] = model.metric, judge.metric()
    for who in ("ours", "peer"):
        for kind, row in result[who].items():
            if "path" not in row:
                continue
            try:
                sessions[f"{who} {kind}"], judged = judge(row["path"])
                row |= judged
            except (RuntimeError, ValueError) as error:
                row["cannot_run"] = str(error).splitlines()[0][:200]
    if options.seconds:
        speeds = tflite_runner.speed_ups(sessions, options.seconds, options.rounds)
        for who in ("ours", "peer"):
            for kind, row in result[who].items():
                if f"{who} {kind}" in speeds:
                    row["speed"] = speeds[f"{who} {kind}"]
        result["unpacked_speed"] = speeds.get("FP32 unpacked")
    return result


# --- showing ----------------------------------------------------------------------------------------------------------

def cell(row, model, original):
    if not row:
        return "–"
    if "path" not in row:
        return "✗"
    if "cannot_run" in row:
        return f"{row['bytes'] / original:.3f}, cannot run"
    parts = [f"{row['bytes'] / original:.3f}"]
    if "sqnr" in row:
        parts.append("/".join("exact" if s == math.inf else f"{s:.1f}" for s in row["sqnr"]) + " dB")
    if "metric" in row:
        parts.append(f"{row['metric']:.4f}")
    if "speed" in row:
        parts.append(f"{row['speed']:.2f}×")
    return ", ".join(parts)


def cost(row, who):
    if not row or "path" not in row:
        return "–"
    text = f"{row['cpu_s']:.2f} s {row['peak_mb']:.0f} MB"
    if "bare_cpu_s" in row:
        text += f" ({row['bare_cpu_s']:.2f} s {row['bare_peak_mb']:.0f} MB)"
    if who == "peer":
        text += f" (+{row['import_cpu_s']:.1f} s)"
    return text


def show(result):
    lines = []
    fp32 = f", FP32 {result['metric_name']} {result['metric']:.4f}" if "metric" in result else ""
    lines.append(f"\n### {result['model']} ({result['bytes']:,} bytes{fp32})\n")
    lines.append("| format | Ounce: size, SQNR, metric, speed | baseline | Ounce: CPU and memory (without the trial) | baseline (+ imports) |")
    lines.append("|---|---|---|---|---|")
    for kind in dict.fromkeys([*result["ours"], *result["peer"]]):
        ours, peer = result["ours"].get(kind), result["peer"].get(kind)
        lines.append(f"| {kind} | {cell(ours, result, result['bytes'])} | {cell(peer, result, result['bytes'])} "
                     f"| {cost(ours, 'ours')} | {cost(peer, 'peer')} |")
    for who in ("ours", "peer"):
        for kind, row in result[who].items():
            if why := row.get("reason") or row.get("error") or row.get("cannot_run"):
                lines.append(f"- {'Ounce' if who == 'ours' else 'baseline'} {kind}: {why}")
    if result.get("why_not_judged"):
        lines.append(f"- not judged: {result['why_not_judged']}")
    return "\n".join(lines)


def worst(row):
    return min(row["sqnr"]) if "sqnr" in row else math.nan


def complaints(results):
    """Yields the missed bounds."""
    for result in results:
        for kind, row in result["ours"].items():
            where = f"{result['model']} {kind}"
            if row.get("silent") or "path" not in row and row["exit"] not in (1, 2, 3, 5):
                yield f"{where}: exit {row['exit']} without a result: {row.get('reason', '')}"
            if "path" not in row:
                continue
            if "cannot_run" in row:
                yield f"{where}: cannot run: {row['cannot_run']}"
            if row["bytes"] >= result["bytes"]:
                yield f"{where}: not smaller ({row['bytes']:,} of {result['bytes']:,} bytes)"
            if row.get("speed", 1) < NOISE and kind in ("w8", "int8", "int8-dynamic", "w16"):
                yield f"{where}: slower than FP32 ({row['speed']:.2f}×)"
            bounds = BOUNDS.get((result["model"], kind), {})
            if worst(row) < bounds.get("sqnr", -math.inf):
                yield f"{where}: {worst(row):.1f} dB instead of {bounds['sqnr']}"
            if row.get("metric", math.inf) < bounds.get("metric", -math.inf):
                yield f"{where}: {row['metric']:.4f} instead of {bounds['metric']}"
            if row.get("speed", math.inf) < bounds.get("speed", 0) * NOISE:
                yield f"{where}: {row['speed']:.2f}× instead of {bounds['speed']}×"
            if result["model"] == "ner" and kind == "int8" and row.get("metric", 1) < result["metric"] - .01:
                yield f"{where}: {row['metric']:.4f} is more than a point below {result['metric']:.4f}"
            peer = result["peer"].get(kind, {})
            if "sqnr" in row and "sqnr" in peer:
                for i, (a, b) in enumerate(zip(row["sqnr"], peer["sqnr"])):
                    if a < b:
                        yield f"{where}: output {i}: {a:.1f} dB, the baseline {b:.1f}"
            if "speed" in row and "speed" in peer and row["speed"] < NOISE * peer["speed"]:
                yield f"{where}: {row['speed']:.2f}×, the baseline {peer['speed']:.2f}×"
            if "path" in peer and "bytes" in peer and row["bytes"] > 1.02 * peer["bytes"]:
                yield f"{where}: {row['bytes']:,} bytes, the baseline {peer['bytes']:,}"
            if "cpu_s" in peer:
                cpu, peak, share = (row["cpu_s"], row["peak_mb"], .5) if kind in NEEDS_DATA else (row["bare_cpu_s"], row["bare_peak_mb"], 1)
                if cpu > share * peer["cpu_s"]:
                    yield f"{where}: {cpu:.2f} s of CPU, the baseline {peer['cpu_s']:.2f}"
                if peak > share * peer["peak_mb"]:
                    yield f"{where}: {peak:.0f} MB, the baseline {peer['peak_mb']:.0f}"


def summary(results):
    lines = ["\n### Over all models\n", "| format | results | compared | SQNR against the baseline: median, worst | outputs below | "
             "speed against FP32: median, worst | against the baseline: median, worst | CPU against the baseline: median | memory: median |",
             "|---|---|---|---|---|---|---|---|---|"]
    for kind in FORMATS:
        rows = [(r["ours"].get(kind, {}), r["peer"].get(kind, {})) for r in results if kind in r["ours"]]
        gains = [a - b for ours, peer in rows if "sqnr" in ours and "sqnr" in peer for a, b in zip(ours["sqnr"], peer["sqnr"])
                 if math.isfinite(a) or math.isfinite(b)]
        speeds = [ours["speed"] for ours, _ in rows if "speed" in ours]
        against = [ours["speed"] / peer["speed"] for ours, peer in rows if "speed" in ours and "speed" in peer]
        pairs = [(ours, peer) for ours, peer in rows if "path" in ours and "path" in peer]
        which = "cpu_s" if kind in NEEDS_DATA else "bare_cpu_s", "peak_mb" if kind in NEEDS_DATA else "bare_peak_mb"
        cpus = [o[which[0]] / p["cpu_s"] for o, p in pairs if o.get(which[0]) and p.get("cpu_s")]
        peaks = [o[which[1]] / p["peak_mb"] for o, p in pairs if o.get(which[1]) and p.get("peak_mb")]

        def both(values, form):
            return f"{statistics.median(values):{form}}, {min(values):{form}}" if values else "–"
        lines.append(f"| {kind} | {sum('path' in o for o, _ in rows)} of {len(rows)} | {len(gains)} outputs | {both(gains, '+.1f')} dB | "
                     f"{sum(g < 0 for g in gains)} | {both(speeds, '.2f')} | {both(against, '.2f')} | "
                     f"{both(cpus, '.2f').split(',')[0]} | {both(peaks, '.2f').split(',')[0]} |")
    return "\n".join(lines)


def conclude(results, options):
    if options.show:
        print(*map(show, results), sep="\n")
    print(summary(results))
    missed = list(complaints(results))
    print(f"\n### Bounds missed: {len(missed)}\n")
    print(*(f"- {line}" for line in missed), sep="\n")
    return 1 if options.gate and missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ounce", type=pathlib.Path, nargs="?")
    parser.add_argument("--peer", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=list(FORMATS))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--seconds", type=float, default=.03, help="CPU time of a slot; 0: no speed")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--limit", type=float, default=600, help="seconds for one call of quantize")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--show", type=pathlib.Path, nargs="+", help="only show what runs wrote with --json")
    options = parser.parse_args()
    if options.show:
        return conclude([result for path in options.show for result in json.loads(path.read_text())], options)
    if not options.ounce:
        parser.error("the program to judge is missing")
    with tempfile.TemporaryDirectory() as temporary:
        options.work = options.work or pathlib.Path(temporary)
        results = []
        for model in tflite_models.models(options.models):
            results.append(bench(options, model, options.peer))
            print(show(results[-1]), flush=True)
        failed = conclude(results, options)
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        print(f"\nCPU seconds of this run: {sum(u.ru_utime + u.ru_stime for u in used):.0f}")
        if options.json:
            options.json.write_text(json.dumps(results, indent=1, default=lambda v: v.item() if isinstance(v, np.generic) else str(v)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
