#!/usr/bin/env python3
"""Ounce from Python: the cost of a call against the program, and a script of onnxruntime.quantization with both modules.

usage: OUNCE_ZOO=folder OUNCE_LIBRARY=build/libounce.so PYTHONPATH=python bench/python_api.py
           [--ounce build/ounce] [--repeats 15] [--seconds 3] [--only kws,gpt] [--gate]

The first table compares `quantize --to w8` of gpt.onnx by the program and by a Python process that has imported the module, in
alternation, and the peak memory of both with a model of 512 MB. The second compares a script (`make_static`, `make_dynamic`:
the calls of the public examples) with onnxruntime.quantization and with ounce.compat; quality is measured on data that
calibration has not seen, speed with both results interleaved. --gate exits with 1 if a figure is out of its bounds: 5 % of
time, no copy of the weights, and no result with a larger output error than the baseline's.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnx.helper
import onnx.numpy_helper
import onnxruntime.quantization
from onnxruntime.quantization.shape_inference import quant_pre_process as their_pre_process

import ounce
import ounce.compat

ZOO = os.environ.get("OUNCE_ZOO", "")


class Reader(ounce.compat.CalibrationDataReader, onnxruntime.quantization.CalibrationDataReader):
    """Yields the inputs of each run."""

    def __init__(self, inputs):
        count = len(next(iter(inputs.values())))
        self.left = iter([{name: array[i : i + 1] for name, array in inputs.items()} for i in range(count)])

    def get_next(self):
        return next(self.left, None)


def make_static(module, pre_process, model, output, inputs):
    """As in the examples of image classification: preprocess, then Q/DQ per channel."""
    prepared = output + ".prepared.onnx"
    pre_process(model, prepared, skip_symbolic_shape=True)
    module.quantize_static(
        prepared,
        output,
        Reader(inputs),
        quant_format=module.QuantFormat.QDQ,
        per_channel=True,
        activation_type=module.QuantType.QUInt8,
        weight_type=module.QuantType.QInt8,
    )


def make_dynamic(module, _, model, output, __):
    """As in the examples of language models."""
    module.quantize_dynamic(model, output, weight_type=module.QuantType.QInt8)


def load(name):
    with numpy.load(os.path.join(ZOO, name)) as archive:
        return {key: archive[key] for key in archive.files}


def rows():
    """Model, part of the script, calibration data, validation data, labels and options of verify."""
    kws, cifar, gpt, agnews, vocoder = (load(f"{n}_val.npz") for n in ("kws", "cifar", "gpt", "agnews", "vocoder"))

    def sound(clips):
        return (clips.astype("float32") / 32768)[:, None]

    def pixels(images):
        mean, deviation = numpy.float32([0.4914, 0.4822, 0.4465]), numpy.float32([0.2470, 0.2435, 0.2616])
        return numpy.ascontiguousarray(((images.astype("float32") / 255 - mean) / deviation).transpose(0, 3, 1, 2))

    yield "kws", make_static, {"audio": sound(kws["calib"])}, {"audio": sound(kws["audio"]), "y": kws["y"]}, {"labels": "y"}
    yield ("mobilenetv2", make_static, {"input": pixels(cifar["calib"][:128])},
           {"input": pixels(cifar["x"]), "y": cifar["y"]}, {"labels": "y"})
    yield "vocoder", make_static, {"mel": vocoder["mel"][:60]}, {"mel": vocoder["mel"][60:]}, {}
    yield ("gpt", make_dynamic, None, {"tokens": gpt["x"][:96], "y": gpt["y"][:96]}, {"labels": "y", "metric": "nll"})
    yield ("agnews", make_dynamic, None,
           {"input_ids": agnews["ids"], "attention_mask": agnews["mask"], "label": agnews["label"]}, {"labels": "label"})


def measured(model, candidate, data, options):
    found = ounce.verify(model, candidate, data=data, edge_cases=False, progress=False, **options)
    figures = {"sqnr": min(output.sqnr_db or 999 for output in found.outputs), "bytes": os.path.getsize(candidate)}
    if found.metrics:
        metric = found.metric()
        figures.update(metric=metric.name, reference=metric.reference, value=metric.candidate, drop=metric.drop)
    return figures


def shims(only, seconds):
    """The table of the script with both modules."""
    print(f"{'model':12} {'part':8} {'module':12} {'size':>7} {'SQNR':>8}  {'quality':32} {'speed-up':>8}")
    problems = []
    modules = {
        "onnxruntime": (onnxruntime.quantization, their_pre_process),
        "ounce.compat": (ounce.compat, ounce.compat.quant_pre_process),
    }
    for name, make, calibration, data, options in rows():
        if only and name not in only:
            continue
        model = os.path.join(ZOO, f"{name}.onnx")
        with tempfile.TemporaryDirectory() as folder:
            outputs, figures = {}, {}
            for label, (module, pre_process) in modules.items():
                outputs[label] = os.path.join(folder, f"{label}.onnx")
                make(module, pre_process, model, outputs[label], calibration)
                figures[label] = measured(model, outputs[label], data, options)
            feed = {key: value[:1] for key, value in data.items() if key not in ("y", "label")}
            times = ounce.bench([model, *outputs.values()], data=feed, seconds=seconds, cold_starts=0, progress=False)
        for label, timed in zip(modules, times.models[1:]):
            found = figures[label]
            quality = f"{found['metric']} {found['value']:.4f} (was {found['reference']:.4f})" if "metric" in found else ""
            found["speed"] = timed.batches[0].speed_up.ratio
            print(f"{name:12} {make.__name__[5:]:8} {label:12} {found['bytes'] / os.path.getsize(model):7.1%} "
                  f"{found['sqnr']:5.1f} dB  {quality:32} {found['speed']:7.2f}x", flush=True)
        theirs, ours = figures["onnxruntime"], figures["ounce.compat"]
        if ours["sqnr"] < theirs["sqnr"]:
            problems.append(f"{name}: {ours['sqnr']:.1f} dB, and {theirs['sqnr']:.1f} by the other module")
    return problems


def timed(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def cost(program, repeats):
    """Times the same call by the program and from Python."""
    model, problems = os.path.join(ZOO, "gpt.onnx"), []
    runtime = ounce._runtime.default_runtime() or ""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.onnx")
        command = [program, "quantize", model, "-o", output, "--runtime", runtime, "--json"]
        both = {"program": [], "Python": []}
        for _ in range(repeats):
            both["program"].append(timed(command))
            begin = time.perf_counter()
            ounce.quantize(model, output=output, runtime=runtime, progress=False)
            both["Python"].append(time.perf_counter() - begin)
        print(f"quantize gpt.onnx, {repeats} times in turn: " + ", ".join(
            f"{name} {statistics.median(times) * 1000:.0f} ms (least {min(times) * 1000:.0f})" for name, times in both.items()))
        ratio = min(both["Python"]) / min(both["program"])
        print(f"Python / program: {statistics.median(both['Python']) / statistics.median(both['program']):.3f} of the medians, "
              f"{ratio:.3f} of the least")
        if ratio > 1.05:
            problems.append(f"a call from Python takes {ratio:.3f} of the program's time")
        problems += memory(program, folder)
    return problems


def memory(program, folder):
    """Measures the peak of a process that quantizes 512 MB: neither may keep the weights in memory."""
    model = os.path.join(folder, "large.onnx")
    count, side = 32, 2048
    block = numpy.random.default_rng(1).normal(size=(side, side)).astype("float32")
    weights = [onnx.numpy_helper.from_array(block, f"w{i}") for i in range(count)]
    nodes = [onnx.helper.make_node("MatMul", [f"v{i}", f"w{i}"], [f"v{i + 1}"]) for i in range(count)]
    values = [onnx.helper.make_tensor_value_info(f"v{i}", 1, [1, side]) for i in (0, count)]
    graph = onnx.helper.make_graph(nodes, "g", values[:1], values[1:], weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), model)
    del weights, graph
    output = os.path.join(folder, "large.w8.onnx")
    # Not ru_maxrss, which starts with the memory of the parent process.
    script = "import ounce; {}; print([line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line][0])"
    call = f"ounce.quantize({model!r}, output={output!r}, verify=False)"
    peaks = {}
    for name, what in (("imported", "pass"), ("Python", call)):
        done = subprocess.run([sys.executable, "-c", script.format(what)], check=True, capture_output=True, text=True)
        peaks[name] = int(done.stdout) / 1024
    done = subprocess.run(
        [sys.executable, "-c", "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True);"
         "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", program, "quantize", model, "-o", output, "--no-verify"],
        check=True, capture_output=True, text=True)
    peaks["program"] = int(done.stdout) / 1024
    print(f"peak memory, {os.path.getsize(model) / 2**20:.0f} MiB: program {peaks['program']:.0f} MiB, Python {peaks['Python']:.0f} "
          f"MiB of which {peaks['imported']:.0f} are the interpreter and the module")
    added = peaks["Python"] - peaks["imported"] - peaks["program"]
    return [f"Python holds {added:.0f} MiB more than the program"] if added > 64 else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--gate", action="store_true")
    arguments = parser.parse_args()
    if not ZOO:
        sys.exit("set OUNCE_ZOO to the folder of the benchmark models")
    problems = [] if arguments.only else cost(arguments.ounce, arguments.repeats)
    problems += shims([name for name in arguments.only.split(",") if name], arguments.seconds)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems and arguments.gate else 0


if __name__ == "__main__":
    sys.exit(main())
