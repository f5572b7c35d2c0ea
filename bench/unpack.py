#!/usr/bin/env python3
"""Measures the gain from `ounce unpack` in an app: load time, heap, file-backed memory and speed of w8 models.

usage: bench/unpack.py [--ounce build/ounce] [--library build/libounce_app.so] [--only cnn,transformer,audio] [--runtime VERSION] [--gate]

Three networks of 90 to 190 MB with random weights are compressed to w8. libounce_app loads each in new processes: as FP32, as w8,
and as w8 unpacked (precompiled) in a cache. "heap" is the anonymous memory minus that of the process with the open library,
"mapped" the resident pages of files; both after loading and three runs, so that all weights were read. Speed is the median of
alternating runs in one process, on one thread. --gate exits with 1 unless loading the unpacked CNN takes at most 0.1 of FP32's
time and heap, and its speed is at least 0.97 of FP32's, and all outputs equal those of the packed model in every bit.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time

TRIES = 5
ROUNDS = 40


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("library", ctypes.c_char_p), ("threads", ctypes.c_int), ("shares_threads", ctypes.c_int),
                ("cache", ctypes.c_char_p), ("requires_ours", ctypes.c_int), ("requires_contract", ctypes.c_int),
                ("digest", ctypes.c_char_p), ("source", ctypes.c_char_p), ("ignores_runtime", ctypes.c_int),
                ("ignores_cpu", ctypes.c_int), ("config", ctypes.c_void_p), ("golden", ctypes.c_void_p),
                ("progress", ctypes.c_void_p), ("user", ctypes.c_void_p)]


class App:
    """The functions of libounce_app.so for this benchmark."""

    def __init__(self, library):
        self.c = ctypes.CDLL(library)
        self.c.ounce_app_error.restype = ctypes.c_char_p

    def must(self, status):
        if status != 0:
            sys.exit(self.c.ounce_app_error().decode())

    def open(self, model, cache, runtime):
        options = Options(size=ctypes.sizeof(Options), library=runtime.encode() if runtime else None,
                          cache=cache.encode() if cache else None)
        session = ctypes.c_void_p()
        self.must(self.c.ounce_app_open(model.encode(), ctypes.byref(options), ctypes.byref(session)))
        return session

    def call(self, session):
        call, values, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        self.must(self.c.ounce_app_call_new(session, None, ctypes.byref(call)))
        self.must(self.c.ounce_app_call_input(call, None, 0, ctypes.byref(values), ctypes.byref(size)))
        floats = (ctypes.c_float * (size.value // 4)).from_address(values.value)
        for i in range(len(floats)):
            floats[i] = (i * 37 % 101 - 50) / 64
        return call

    def run(self, call):
        start = time.perf_counter()
        self.must(self.c.ounce_app_call_run(call, ctypes.c_int64(-1)))
        return time.perf_counter() - start

    def output(self, call):
        values, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.must(self.c.ounce_app_call_output(call, None, 0, ctypes.byref(values), ctypes.byref(size)))
        return ctypes.string_at(values.value, size.value)


def memory():
    """Bytes of this process: anonymous, and resident pages of files."""
    found = {}
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if len(words) > 2 and words[2] == "kB":
                found[words[0]] = int(words[1]) * 1024
    return found["Anonymous:"], found["Rss:"] - found["Anonymous:"]


def worker(arguments):
    """Runs one load, or two models in alternation; called in a separate process."""
    library, runtime, warm, *models = arguments
    app = App(library)
    session = app.open(warm, None, runtime)  # opens the runtime and creates its environment
    app.c.ounce_app_close(session)
    if len(models) == 1:
        model, _, cache = models[0].partition("@")
        heap, mapped = memory()
        start = time.perf_counter()
        session = app.open(model, cache, runtime)
        seconds = time.perf_counter() - start
        call = app.call(session)
        for _ in range(3):
            app.run(call)
        after = memory()
        print(json.dumps({"seconds": seconds, "heap": after[0] - heap, "mapped": after[1] - mapped,
                          "output": app.output(call).hex()[:4096]}))
        return
    calls = [app.call(app.open(model.partition("@")[0], model.partition("@")[2], runtime)) for model in models]
    times = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, its in zip(calls, times):
            its.append(app.run(call))
    print(json.dumps([sorted(its)[len(its) // 2] for its in times]))


def start(options, *models):
    command = [sys.executable, __file__, "--worker", options.library, options.runtime, options.warm, *models]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def best(options, model):
    """The fastest of several loads, with its memory."""
    return min((start(options, model) for _ in range(TRIES)), key=lambda result: result["seconds"])


def make_networks(folder, only):
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(7)

    class Network:
        def __init__(self):
            self.nodes, self.constants = [], []

        def constant(self, shape, scale):
            name = f"w{len(self.constants)}"
            values = (random.standard_normal(shape, dtype=np.float32) * np.float32(scale)).astype(np.float32)
            self.constants.append(numpy_helper.from_array(values, name))
            return name

        def op(self, kind, *inputs, **attributes):
            name = f"v{len(self.nodes)}"
            self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
            return name

        def save(self, output, shape, path):
            graph = helper.make_graph(self.nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                      [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants)
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    def cnn(path):
        net, x = Network(), "x"
        for _ in range(20):
            x = net.op("Relu", net.op("Conv", x, net.constant([512, 512, 3, 3], 0.02), pads=[1] * 4))
        net.save(x, [1, 512, 8, 8], path)

    def transformer(path):
        net, x, width = Network(), "x", 768
        dense = lambda value, a, b: net.op("MatMul", value, net.constant([a, b], a**-0.5))
        norm = lambda value: net.op("LayerNormalization", value, net.constant([width], 1), axis=-1)
        for _ in range(6):
            y = norm(x)
            scores = net.op("MatMul", dense(y, width, width), net.op("Transpose", dense(y, width, width), perm=[0, 2, 1]))
            mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), dense(y, width, width))
            x = net.op("Add", x, dense(mixed, width, width))
            x = net.op("Add", x, dense(net.op("Relu", dense(norm(x), width, 4 * width)), 4 * width, width))
        net.save(x, [1, 64, width], path)

    def audio(path):
        net, x = Network(), "x"
        for _ in range(12):
            x = net.op("LeakyRelu", net.op("Conv", x, net.constant([512, 512, 7], 0.015), pads=[3, 3]), alpha=0.1)
        x = net.op("ConvTranspose", x, net.constant([512, 256, 16], 0.02), strides=[8], pads=[4, 4])
        net.save(x, [1, 512, 100], path)

    for name, make in (("cnn", cnn), ("transformer", transformer), ("audio", audio)):
        if name in only:
            make(os.path.join(folder, f"{name}.onnx"))
            yield name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--library", default="build/libounce_app.so")
    parser.add_argument("--only", default="cnn,transformer,audio")
    parser.add_argument("--runtime", default="")
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args()
    options.library = os.path.abspath(options.library)
    options.warm = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "commands", "commands.onnx")
    failures = []
    print(f"{'model':<12} {'way':<14} {'disk MB':>8} {'load ms':>8} {'heap MB':>8} {'mapped MB':>10} {'speed':>6}  bits")
    with tempfile.TemporaryDirectory() as folder:
        for name in make_networks(folder, options.only.split(",")):
            full, small, cache = (os.path.join(folder, file) for file in (f"{name}.onnx", f"{name}.w8.onnx", "cache"))
            runtime = ["--runtime", options.runtime] if options.runtime else []
            subprocess.run([options.ounce, "quantize", full, "-o", small, "--to", "w8", *runtime], check=True, capture_output=True)
            made = json.loads(subprocess.run([options.ounce, "unpack", small, "--cache", cache, "--json", *runtime], check=True,
                                             capture_output=True, text=True).stdout)["results"][0]
            plain, packed, unpacked = best(options, full), best(options, small), best(options, f"{small}@{cache}")
            times = start(options, full, small, f"{small}@{cache}")
            same = packed["output"] == unpacked["output"]
            for way, file, found, seconds, bits in (("FP32", full, plain, times[0], ""), ("w8", small, packed, times[1], ""),
                                                    ("w8, unpacked", made["file"], unpacked, times[2], "same" if same else "OTHERS")):
                print(f"{name:<12} {way:<14} {os.stat(file).st_blocks * 512 / 1e6:>8.1f} {found['seconds'] * 1e3:>8.1f} "
                      f"{found['heap'] / 1e6:>8.1f} {found['mapped'] / 1e6:>10.1f} {times[0] / seconds:>6.3f}  {bits}")
            print(f"{name:<12} unpacked once in {made['duration_ns'] / 1e9:.1f} s, in a runner: {made['in_runner']}; of FP32: "
                  f"time {unpacked['seconds'] / plain['seconds']:.3f}, heap {unpacked['heap'] / plain['heap']:.3f}", flush=True)
            if not same:
                failures.append(f"{name}: the outputs differ")
            if name == "cnn":
                kept = (unpacked["seconds"] <= 0.1 * plain["seconds"], unpacked["heap"] <= 0.1 * plain["heap"],
                        times[0] / times[2] >= 0.97)
                failures += [f"cnn: {what}" for what, holds in zip(("load time", "heap", "speed"), kept) if not holds]
    for failure in failures:
        print(f"missed: {failure}")
    return 1 if options.gate and failures else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2:])
    else:
        sys.exit(main())
