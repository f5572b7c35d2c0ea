#!/usr/bin/env python3
"""Memory at load and speed of every `--decode` setting, on convolutional networks of 50 to 100 MB with random weights.

usage: bench/memory.py [--ounce build/ounce] [--only basic,bottleneck,audio] [--runtime VERSION] [--seconds 6] [--gate]

Each network is written with every setting of --to, --decode and --memory, and all of them run in one `ounce bench`: interleaved
on one thread, with memory measured in new processes. "peak" is the maximum resident memory while the session is created, minus
that of the process with the open library; "stays" is the resident memory after that; "run" is the peak of the whole process,
including the runtime. Shares are relative to FP32 in the same run. --gate exits with 1 if a bound is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WAYS = [
    ("w8 fast", ["--to", "w8"]),
    ("w8 balanced", ["--to", "w8", "--memory", "balanced"]),
    ("w8 balanced, 10 %", ["--to", "w8", "--memory", "balanced", "--decode-share", "10"]),
    ("w8 balanced, 20 %", ["--to", "w8", "--memory", "balanced", "--decode-share", "20"]),
    ("w8 low", ["--to", "w8", "--memory", "low"]),
    ("w4 --decode fold", ["--to", "w4", "--decode", "fold"]),
    ("w4 fast", ["--to", "w4"]),
    ("w4 balanced", ["--to", "w4", "--memory", "balanced"]),
    ("w4 balanced, 20 %", ["--to", "w4", "--memory", "balanced", "--decode-share", "20"]),
    ("w4 low", ["--to", "w4", "--memory", "low"]),
]
# Bounds: largest share of FP32's peak, least share of its speed. The error of timing is up to 3 %.
WANTED = {"w8 fast": (1.25, 1.0), "w8 balanced": (0.6, 0.95), "w4 balanced": (1.0, 0.9)}
NOISE = 0.03


class Network:
    def __init__(self, seed=1):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def name(self):
        return f"n{len(self.nodes) + len(self.constants)}"

    def constant(self, shape, scale):
        name = "w" + self.name()
        self.constants.append(numpy_helper.from_array((self.random.standard_normal(shape) * scale).astype(np.float32), name))
        return name

    def op(self, op_type, *inputs, **attributes):
        name = "v" + self.name()
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        return name

    def conv(self, x, channels, filters, kernel, stride=1, axes=2, relu=True):
        weight = self.constant([filters, channels] + [kernel] * axes, np.sqrt(2 / (channels * kernel**axes)))
        y = self.op("Conv", x, weight, self.constant([filters], 0.01), pads=[kernel // 2] * 2 * axes, strides=[stride] * axes)
        return self.op("Relu", y) if relu else y

    def model(self, output, shape):
        graph = helper.make_graph(
            self.nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def residual(has_bottlenecks):
    """The layers of a ResNet-34 or ResNet-50, for images of 224 × 224."""
    net = Network()
    x = net.op("MaxPool", net.conv("x", 3, 64, 7, 2), kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    channels = 64
    for blocks, width in ((3, 64), (4, 128), (6, 256), (3, 512)):
        wide = 4 * width if has_bottlenecks else width
        for i in range(blocks):
            stride = 2 if i == 0 and width != 64 else 1
            if has_bottlenecks:
                y = net.conv(net.conv(x, channels, width, 1), width, width, 3, stride)
                y = net.conv(y, width, wide, 1, relu=False)
            else:
                y = net.conv(net.conv(x, channels, width, 3, stride), width, width, 3, relu=False)
            if channels != wide:
                x = net.conv(x, channels, wide, 1, stride, relu=False)
            x, channels = net.op("Relu", net.op("Add", x, y)), wide
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    return net.model(net.op("Gemm", x, net.constant([1000, channels], 0.02), net.constant([1000], 0.01), transB=1), [1, 3, 224, 224])


def audio():
    """One spatial axis, so that no kernel reorders its weights; each weight is used at 256 positions."""
    net = Network()
    x = net.conv("x", 80, 768, 3, axes=1)
    for _ in range(9):
        x = net.conv(x, 768, 768, 3, axes=1)
    return net.model(net.conv(x, 768, 80, 3, axes=1, relu=False), [1, 80, 256])


NETWORKS = {"basic": lambda: residual(False), "bottleneck": lambda: residual(True), "audio": audio}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--only", default="")
    parser.add_argument("--runtime", default="")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args()
    failures = []
    for name, make in NETWORKS.items():
        if options.only and name not in options.only.split(","):
            continue
        with tempfile.TemporaryDirectory() as folder:
            original = os.path.join(folder, "fp32.onnx")
            onnx.save(make(), original)
            files = [original]
            for i, (_, how) in enumerate(WAYS):
                files.append(os.path.join(folder, f"{i}.onnx"))
                run(options.ounce, "quantize", original, *how, "--no-verify", "-o", files[-1])
            runtime = ["--runtime", options.runtime] if options.runtime else []
            report = json.loads(run(options.ounce, "bench", *files, "--threads", 1, "--seconds", options.seconds, "--json", *runtime))["results"][0]
        first = report["models"][0]
        print(f"\n{name}, ONNX Runtime {report['runtime_version']} on {report['cpu']}, {first['bytes'] / 1e6:.0f} MB")
        print("| | size | peak MB | of FP32 | stays MB | run MB | speed |\n|---|---|---|---|---|---|---|")
        for way, model in zip(["FP32"] + [w for w, _ in WAYS], report["models"]):
            memory, speed = model["load_memory"], model["batches"][0]["speed_up"]["ratio"]
            share = memory["peak_bytes"] / first["load_memory"]["peak_bytes"]
            print(f"| {way} | {model['bytes'] / first['bytes']:.3f} | {memory['peak_bytes'] / 1e6:.0f} | {share:.2f} "
                  f"| {memory['after_bytes'] / 1e6:.0f} | {model['peak_memory_bytes'] / 1e6:.0f} | {speed:.2f} |")
            if way in WANTED:
                most, least = WANTED[way]
                if share > most or speed < least - NOISE:
                    failures.append(f"{name}, {way}: {share:.2f} of the peak ({most} wanted) at {speed:.2f} of the speed ({least} wanted)")
    for failure in failures:
        print("missed:", failure)
    return 1 if options.gate and failures else 0


if __name__ == "__main__":
    sys.exit(main())
