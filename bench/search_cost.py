#!/usr/bin/env python3
"""CPU time of `ounce quantize --to int8`, of two builds and of onnxruntime.quantization on the same models and data.

usage: OUNCE_ZOO=folder bench/search_cost.py --after build/ounce [--before old/ounce] [--foreign FOLDER] [--script] [--quality]

The CPU seconds are user + system of the whole process tree: the program, its runner processes and emulators. Builds take turns
(--rounds), and the median counts. --script runs quantize_static (Q/DQ, per channel, min-max) of this Python's onnxruntime on the
same samples. --quality adds the SQNR of the worst output or output part on data that calibration has not seen, and the speed against
FP32. --foreign reads the models.json of bench/studies/foreign_models.py.
Every third of these models, by name, is held out: choose nothing by it; its figures are summarized separately.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import int8  # noqa: E402

BLOOD = ["--layout", "nchw", "--rescale", "1/255"]
ZOO = ["mobilenetv2", "vocoder", "kws", "agnews", "ultraface_rfb_320"]


def zoo_rows(folder):
    rows = [(name, os.path.join(folder, name + ".onnx"), int8.places(tune, folder), int8.places(judge, folder), "zoo")
            for name, form, tune, judge, _ in int8.ROWS if form == "int8" and name in ZOO]
    calib, val = (os.path.join(folder, "detector", part) for part in ("calib", "val"))
    return rows + [("detector", os.path.join(folder, "detector.onnx"), ["--data", calib, *BLOOD], ["--data", val, *BLOOD], "zoo")]


def foreign_rows(folder):
    with open(os.path.join(folder, "models.json"), encoding="utf-8") as file:
        entries = sorted(json.load(file), key=lambda entry: entry["name"])
    return [(entry["name"], entry["model"], entry["tune"], entry["judge"], "held out" if n % 3 == 2 else "third-party")
            for n, entry in enumerate(entries)]


def cpu_seconds(command):
    """Runs a command. Returns its exit code, CPU seconds with all descendants that ended, and its output."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        return child.returncode, usage.ru_utime + usage.ru_stime, output.read().decode(), errors.read().decode()


# --- onnxruntime.quantization -------------------------------------------------------------------

def value_of(options, name, otherwise=None):
    return options[options.index(name) + 1] if name in options else otherwise


def number(text):
    return float(text.split("/")[0]) / float(text.split("/")[1]) if "/" in text else float(text)


def pictures(folder, size):
    import numpy as np
    from PIL import Image
    for name in sorted(os.listdir(folder)):
        image = Image.open(os.path.join(folder, name)).convert("RGB")
        if size:
            image = image.resize(size, Image.BILINEAR)
        yield np.asarray(image)[None]


def prepared(values, options):
    values = values.astype("float64")
    if "--rescale" in options:
        values = values * number(value_of(options, "--rescale"))
    if "--mean" in options:
        values = values - [float(part) for part in value_of(options, "--mean").split(",")]
    if "--std" in options:
        values = values / [float(part) for part in value_of(options, "--std").split(",")]
    return values.transpose(0, 3, 1, 2) if "--layout" in options and values.ndim == 4 else values


def feeds(model, options):
    """One dictionary for each sample, as the options of `ounce` describe it."""
    import numpy as np
    import onnxruntime
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    types = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}
    inputs = {value.name: (types[value.type], value.shape) for value in session.get_inputs()}
    path, first = value_of(options, "--data"), int(value_of(options, "--first", "0"))
    most = int(value_of(options, "--samples", "1000000"))
    if os.path.isdir(path):
        size = value_of(options, "--size")
        size = tuple(int(side) for side in reversed(size.split("x"))) if size else None
        name, (kind, _) = next(iter(inputs.items()))
        for n, picture in enumerate(pictures(path, size)):
            if first <= n < first + most:
                yield {name: prepared(picture, options).astype(kind)}
        return
    arrays = dict(np.load(path))
    named = dict(option.split("=") for n, option in enumerate(options) if n and options[n - 1] == "--input")
    found = {name: arrays[named.get(name, name if name in arrays else next(iter(arrays)))] for name in inputs}
    for n in range(first, min(first + most, min(len(array) for array in found.values()))):
        feed = {}
        for name, (kind, shape) in inputs.items():
            values = found[name][n:n + 1]
            values = prepared(values, options) if kind == np.float32 else values
            while values.ndim < len(shape):
                values = values[:, None]
            feed[name] = values.astype(kind)
        yield feed


def run_script(model, output, *options):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.feeds = feeds(model, list(options))

        def get_next(self):
            return next(self.feeds, None)

    with tempfile.NamedTemporaryFile(suffix=".onnx") as scratch:
        try:
            quant_pre_process(model, scratch.name, skip_symbolic_shape=True)
            source = scratch.name
        except Exception:  # this step is optional
            source = model
        quantize_static(source, output, Reader(), quant_format=QuantFormat.QDQ, per_channel=True)


# --- measuring ----------------------------------------------------------------------------------

def quality_of(ounce, model, small, judge):
    """Output SQNR on unseen data, and the speed against FP32 with its interval."""
    figures = {}
    code, _, text, errors = cpu_seconds([ounce, "verify", model, small, *judge, "--no-edge-cases", "--json"])
    if code not in (0, 1):
        return {"error": errors.strip().splitlines()[-1:]}
    entry = json.loads(text)["results"][0]
    outputs = entry["outputs"]
    states = [option.split("=")[1] for n, option in enumerate(judge) if n and judge[n - 1] == "--carry"]
    outputs = [output for output in outputs if output["name"] not in states]
    figures["sqnr"] = min((999 if output["sqnr_db"] is None else output["sqnr_db"] for output in outputs), default=None)
    if entry.get("worst_sqnr_db") is not None and not states:
        figures["sqnr"] = min(figures["sqnr"], entry["worst_sqnr_db"])
    agreements = [output["top1_agreement"] for output in outputs if output.get("top1_agreement") is not None]
    figures["agreement"] = agreements[0] if agreements else None
    feeding = [option for option in judge if option not in ("--metric",)]
    code, _, text, _ = cpu_seconds([ounce, "bench", model, small, *feeding, "--seconds", "4", "--json"])
    if code == 0:
        speed = json.loads(text)["results"][0]["models"][1]["batches"][0]["speed_up"]
        figures |= {"speed": speed["ratio"], "low": speed["low"], "high": speed["high"]}
    return figures


def measure(builds, row, arguments, scratch):
    name, model, tune, judge, group = row
    result = {"name": name, "group": group, "cpu": {}, "exit": {}, "quality": {}}
    times = {label: [] for label in builds}
    for _ in range(arguments.rounds):
        for label, ounce in builds.items():
            output = os.path.join(scratch, f"{name}.{label}.onnx")
            command = [ounce, "quantize", model, "--to", "int8", *tune, "-o", output, "--json", *arguments.options]
            code, seconds, text, errors = cpu_seconds(command)
            times[label].append(seconds)
            result["exit"][label] = code
            if code != 0:
                result.setdefault("errors", {})[label] = errors.strip()[-300:]
            else:
                result.setdefault("written", {})[label] = json.loads(text)
    for label, ounce in builds.items():
        result["cpu"][label] = statistics.median(times[label])
        output = os.path.join(scratch, f"{name}.{label}.onnx")
        if arguments.quality and os.path.exists(output):
            result["quality"][label] = quality_of(ounce, model, output, judge)
    if arguments.script:
        output = os.path.join(scratch, f"{name}.script.onnx")
        code, seconds, _, errors = cpu_seconds([sys.executable, os.path.abspath(__file__), "script", model, output, *tune])
        result["exit"]["script"] = code
        if code == 0:
            result["cpu"]["script"] = seconds
            if arguments.quality:
                result["quality"]["script"] = quality_of(builds["after"], model, output, judge)
        else:
            result.setdefault("errors", {})["script"] = errors.strip()[-300:]
    return result


def ratio(result, a, b):
    cpu = result["cpu"]
    return cpu[a] / cpu[b] if a in cpu and b in cpu and result["exit"].get(a) == 0 else None


def text_of(value, form):
    return "–" if value is None else format(value, form)


def show(result, labels):
    cells = [f"{result['name']:20} {result['group']:11}"]
    for label in labels:
        cells.append(f"{text_of(result['cpu'].get(label), '7.2f')}")
    cells.append(f"{text_of(ratio(result, 'after', 'before'), '6.2f')} {text_of(ratio(result, 'after', 'script'), '6.2f')}")
    for label in labels:
        figures = result["quality"].get(label, {})
        cells.append(f"{text_of(figures.get('sqnr'), '6.1f')} dB {text_of(figures.get('speed'), '5.2f')}×" if figures else "")
    failed = [f"{label}: exit {code}" for label, code in result["exit"].items() if code != 0]
    print("  ".join(cells), *failed, flush=True)


def summarize(results):
    for group in ("zoo", "third-party", "held out", None):
        chosen = [result for result in results if group in (None, result["group"])]
        for a, b in (("after", "before"), ("after", "script")):
            ratios = [value for value in (ratio(result, a, b) for result in chosen) if value is not None]
            if ratios:
                print(f"{group or 'all':12} CPU time {a}/{b}: median {statistics.median(ratios):.2f}, "
                      f"geometric mean {math.exp(statistics.mean(map(math.log, ratios))):.2f}, worst {max(ratios):.2f} "
                      f"({len(ratios)} models)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default="")
    parser.add_argument("--after", default="build/ounce")
    parser.add_argument("--foreign", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--script", action="store_true")
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--json", default="", help="write all figures to this file")
    parser.add_argument("options", nargs="*", help="more options of quantize, after --")
    arguments = parser.parse_args()
    builds = {"before": arguments.before, "after": arguments.after} if arguments.before else {"after": arguments.after}
    rows = zoo_rows(os.environ["OUNCE_ZOO"]) if os.environ.get("OUNCE_ZOO") else []
    rows += foreign_rows(arguments.foreign) if arguments.foreign else []
    wanted = arguments.only.split(",") if arguments.only else None
    labels = [*builds, "script"] if arguments.script else list(builds)
    print(f"{'model':20} {'group':11}  " + "  ".join(f"{label:>7}" for label in labels) + "  after/before, after/script", flush=True)
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows:
            if wanted and row[0] not in wanted:
                continue
            results.append(measure(builds, row, arguments, scratch))
            show(results[-1], labels)
            if arguments.json:
                with open(arguments.json, "w", encoding="utf-8") as file:
                    json.dump(results, file, indent=1)
    summarize(results)


if __name__ == "__main__":
    if sys.argv[1:2] == ["script"]:
        run_script(*sys.argv[2:])
    else:
        main()
