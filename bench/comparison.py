#!/usr/bin/env python3
"""Compares Ounce with onnxruntime.quantization, coremltools and ai-edge-quantizer in one run, on the benchmark models.

usage: OUNCE_ZOO=folder bench/comparison.py [--ounce build/ounce] [--only kws,gpt] [--seconds 1] [--write docs/benchmarks/comparison.md]

The same Python must have onnxruntime, onnx, sympy and numpy; coremltools and ai-edge-quantizer with ai-edge-litert (all by pip) are
used if they are installed.

ONNX: each model is made three times: by Ounce with --to and --data only; by onnxruntime.quantization as its documentation
recommends (quant_pre_process; static QDQ with weights per channel for convolutional networks, dynamic for transformers); and by the
best recipe for this model that was found by trying all settings (tune_peer.py). The three and the original are judged on the same
unseen data by `ounce verify` and run in turns by `ounce bench`. CPU time is that of the whole process; that of Python's imports
alone is subtracted. Core ML and TFLite: one configuration each, without special settings on either side. Speeds and CPU
times are ratios. --write replaces the tables between the marks in the page.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import coreml
import int8
import tune_peer

NAMES = {"kws": "spoken digits", "mobilenetv2": "MobileNetV2 (CIFAR)", "commands": "voice commands", "vocoder": "vocoder",
         "gpt": "character GPT", "agnews": "text classifier"}
FORMATS = {"kws": "int8", "mobilenetv2": "int8", "commands": "int8", "vocoder": "int8", "gpt": "int8-dynamic", "agnews": "int8-dynamic"}
METRICS = {"top1_accuracy": "accuracy", "nll": "nll"}
PACKAGES = ["kws_fp16_ios16", "mobilenetv2_fp16_ios18", "vocoder_fp16_ios18", "gpt_fp16_ios18", "agnews_fp16_ios18"]
COREML_METHODS = ["w8", "w4", "palette8"]
TFLITE = {"kws": "int8", "mobilenetv2": "int8", "agnews": "int8-dynamic", "vocoder": "int8-dynamic"}


def calibration(name, folder):
    """Input name and samples for the baseline: those that Ounce gets."""
    import numpy as np
    if name == "vocoder":
        return "mel", np.load(os.path.join(folder, "vocoder_val.npz"))["mel"][:60]
    return {"kws": tune_peer.digits, "mobilenetv2": tune_peer.cifar, "commands": tune_peer.commands}[name](folder)


def make_as_documented(name, model, folder, output):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process
    import numpy as np
    with tempfile.TemporaryDirectory() as scratch:
        prepared = os.path.join(scratch, "prepared.onnx")
        try:
            quant_pre_process(model, prepared)
        except Exception:  # shape inference fails on some transformers; its documentation says to skip it then
            quant_pre_process(model, prepared, skip_symbolic_shape=True)
        if FORMATS[name] == "int8-dynamic":
            quantize_dynamic(prepared, output, per_channel=True, weight_type=QuantType.QInt8)
            return

        class Reader(CalibrationDataReader):
            def __init__(self):
                port, rows = calibration(name, folder)
                self.feeds = iter([{port: row[None].astype(np.float32)} for row in rows])

            def get_next(self):
                return next(self.feeds, None)

        quantize_static(prepared, output, Reader(), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)


def baseline_main(how, name, model, folder, output):
    """Runs in a process of its own."""
    import onnx  # noqa: F401
    import onnxruntime.quantization.shape_inference  # noqa: F401
    if how == "imports":
        return
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        if how == "documented":
            make_as_documented(name, model, folder, output)
        elif name == "mobilenetv2":  # percentile calibration on all 512 samples takes more than 12 GB
            port, rows = tune_peer.cifar(folder)
            tune_peer.static(99.999, lambda _: (port, rows[:128]))(model, folder, output)
        else:
            tune_peer.make(name, model, folder, output)


def cpu_of(words):
    """CPU seconds of a command and of its children, and whether it succeeded."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.returncode == 0, (done.stderr or done.stdout).strip()


def judged(ounce, model, candidate, options):
    """SQNR in dB of the worst output, and the first metric, of a candidate."""
    done = subprocess.run([ounce, "verify", model, candidate, *options, "--no-edge-cases", "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return None, None
    entry = json.loads(done.stdout)["results"][0]
    metric = next((one["candidate"] for one in entry["metrics"] if one["name"] in METRICS), None)
    return min(999.0 if one["sqnr_db"] is None else one["sqnr_db"] for one in entry["outputs"]), metric


def onnx_row(options, name, scratch):
    zoo = os.environ["OUNCE_ZOO"]
    folder = int8.EXAMPLES if name == "commands" else zoo
    model = os.path.join(folder, f"{name}.onnx")
    _, _, calib, validation, _ = next(row for row in int8.ROWS if row[0] == name and row[1] == FORMATS[name])
    calib, validation = int8.places(calib, folder), int8.places(validation, folder)
    files = {how: os.path.join(scratch, f"{name}.{how}.onnx") for how in ("ounce", "documented", "tuned")}
    script = [sys.executable, __file__, "--baseline"]
    cpu = {"ounce": cpu_of([options.ounce, "quantize", model, "--to", FORMATS[name], *calib, "--on", "none", "-o", files["ounce"]])}
    imports = cpu_of([*script, "imports", name, model, folder, ""])[0]
    for how in ("documented", "tuned"):
        seconds, fine, words = cpu_of([*script, how, name, model, folder, files[how]])
        cpu[how] = (seconds - imports, fine, words)
    row = {"name": name, "cells": {}}
    present = [how for how in files if cpu[how][1]]
    feeding = [word for word in validation if word not in ("--metric", "nll")]
    done = subprocess.run([options.ounce, "bench", model, *(files[how] for how in present), *feeding, "--json", "--cold-starts", "0",
                           "--seconds", str(options.seconds)], capture_output=True, text=True)
    models = json.loads(done.stdout)["results"][0]["models"] if done.returncode == 0 else []
    for how in files:
        if how not in present:
            row["cells"][how] = {"error": cpu[how][2].splitlines()[-1] if cpu[how][2] else "failed"}
            continue
        sqnr, metric = judged(options.ounce, model, files[how], validation)
        at = present.index(how) + 1
        row["cells"][how] = {"size": os.path.getsize(files[how]) / os.path.getsize(model), "sqnr": sqnr, "metric": metric, "cpu": cpu[how][0],
                             "speed": models[at]["batches"][0]["speed_up"]["ratio"] if models else None}
    return row


def shown(cell):
    if "error" in cell:
        return "failed"
    parts = [f"{100 * cell['size']:.1f} %", "does not load" if cell["sqnr"] is None else f"{cell['sqnr']:.1f} dB"]
    if cell["metric"] is not None:
        parts.append(f"{cell['metric']:.4f}".lstrip("0") if cell["metric"] < 1 else f"{cell['metric']:.4f}")
    parts.append("–" if cell["speed"] is None else f"{cell['speed']:.2f}×")
    return ", ".join(parts)


def onnx_table(rows):
    lines = ["| model | Ounce | onnxruntime.quantization, documented | onnxruntime.quantization, best recipe | CPU time of documented, best (Ounce = 1) |",
             "|---|---|---|---|---|"]
    for row in rows:
        cells = row["cells"]
        times = ", ".join(f"{cells[how]['cpu'] / cells['ounce']['cpu']:.2f}" if "cpu" in cells[how] else "–" for how in ("documented", "tuned"))
        lines.append(f"| {NAMES[row['name']]}, `{FORMATS[row['name']]}` | " + " | ".join(shown(cells[how]) for how in cells) + f" | {times} |")
    return lines


def coreml_table(options, scratch):
    lines = ["| package | method | Ounce: bytes, output SQNR | coremltools: bytes, output SQNR | CPU time of coremltools (Ounce = 1) |", "|---|---|---|---|---|"]
    for name in PACKAGES:
        package = pathlib.Path(os.environ["OUNCE_ZOO"], "coreml", f"{name}.mlpackage")
        if options.only and name.split("_")[0] not in options.only or not package.exists():
            continue
        for method in COREML_METHODS:
            words, configuration = coreml.METHODS[method]
            ours, theirs = (os.path.join(scratch, f"{name}.{method}.{who}.mlpackage") for who in ("ounce", "baseline"))
            if method == "w4" and not name.endswith("ios18"):
                continue  # 4-bit blocks need iOS 18
            mine, is_made, _ = cpu_of([options.ounce, "quantize", package, *words, "--no-verify", "-o", ours])
            peer, is_made_too, _ = cpu_of([sys.executable, __file__, "--coreml", package, theirs, configuration])
            if not is_made or not is_made_too:
                continue
            _, _, _, validation, _ = next(row for row in int8.ROWS if row[0] == name.split("_")[0])
            validation = int8.places(validation, os.environ["OUNCE_ZOO"])
            if "--samples" not in validation and "--first" not in validation:
                validation = [*validation, "--samples", "32"]
            cells = []
            for path in (ours, theirs):
                size = sum(file.stat().st_size for file in pathlib.Path(path).rglob("*") if file.is_file())
                sqnr, _ = judged(options.ounce, str(package), path, without_labels(validation))
                cells.append(f"{size / 1e6:.2f} MB, " + ("–" if sqnr is None else f"{sqnr:.1f} dB"))
            lines.append(f"| {NAMES[name.split('_')[0]]} | {configuration} | {cells[0]} | {cells[1]} | {peer / mine:.0f} |")
    return lines


def without_labels(words):
    """Options of verify without labels, metric and a longer sample limit."""
    kept = []
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif word in ("--labels", "--metric") or (word in ("--samples", "--first") and at and int(words[at + 1]) > 32):
            skip = True
        else:
            kept.append(word)
    return kept if "--samples" in kept or "--first" in kept else [*kept, "--samples", "32"]


def tflite_table(options, scratch):
    lines = ["| model | format | Ounce: size, output SQNR, speed | ai-edge-quantizer: size, output SQNR, speed |", "|---|---|---|---|"]
    here = os.path.dirname(os.path.abspath(__file__))
    for name, kind in TFLITE.items():
        if options.only and name not in options.only:
            continue
        peer, work, result = (os.path.join(scratch, part) for part in ("peer", "work", f"{name}.json"))
        subprocess.run([sys.executable, os.path.join(here, "tflite_peer.py"), peer, "--models", name, "--recipes", kind], check=True,
                       capture_output=True)
        subprocess.run([sys.executable, os.path.join(here, "tflite.py"), options.ounce, "--peer", peer, "--work", work, "--models", name,
                        "--formats", kind, "--json", result], check=True, capture_output=True)
        found = json.loads(pathlib.Path(result).read_text())[0]
        cells = []
        for who in ("ours", "peer"):
            one = found[who].get(kind, {})
            sqnr = [value for value in (one.get("sqnr") or {}).values()] if isinstance(one.get("sqnr"), dict) else one.get("sqnr") or []
            quality = f"{min(sqnr):.1f} dB" if sqnr else "–"
            speed = one.get("speed")
            cells.append(f"{100 * one['bytes'] / found['bytes']:.1f} %, {quality}, " + (f"{speed:.2f}×" if speed else "–") if "bytes" in one else "no result")
        lines.append(f"| {NAMES[name]} | {kind} | {cells[0]} | {cells[1]} |")
    return lines


def has(module):
    return importlib.util.find_spec(module) is not None


def main():
    if sys.argv[1:2] == ["--baseline"]:
        return baseline_main(*sys.argv[2:])
    if sys.argv[1:2] == ["--coreml"]:
        return coreml.peer_main(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default="build/ounce", type=os.path.abspath)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--formats", default="onnx,coreml,tflite")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    if "OUNCE_ZOO" not in os.environ:
        sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    tables = {}
    with tempfile.TemporaryDirectory() as scratch:
        if "onnx" in options.formats:
            rows = []
            for name in NAMES:
                if not options.only or name in options.only:
                    rows.append(onnx_row(options, name, scratch))
                    print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
            tables["onnx"] = onnx_table(rows)
        if "coreml" in options.formats and has("coremltools"):
            tables["coreml"] = coreml_table(options, scratch)
        if "tflite" in options.formats and has("ai_edge_quantizer"):
            tables["tflite"] = tflite_table(options, scratch)
    for name, lines in tables.items():
        print(f"\n{name}\n" + "\n".join(lines))
        if options.write:
            text = options.write.read_text(encoding="utf-8")
            text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda match: match[1] + "\n".join(lines) + "\n" + match[2], text, flags=re.DOTALL)
            options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
