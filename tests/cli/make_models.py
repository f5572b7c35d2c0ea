#!/usr/bin/env python3
"""Writes the small models of the command-line tests into a folder: the same bytes on every machine.

usage: make_models.py FOLDER

Each model is a function below, named after its file. The docstring describes the property that tests need.
"""

import math
import pathlib
import struct
import sys

from data_bytes import npy, npz, png, wav
from onnx_bytes import *

MODELS = []
X = value("x", ["N", 32])
Y = value("y", ["N", 64])


def a_model(make):
    MODELS.append(make)
    return make


def one_matmul(initializer, **options):
    return model(graph([node("MatMul", ["x", "w"], ["y"])], [X], [Y], [initializer]), **options)


@a_model
def matmul():
    """The simplest model: a weight, and a bias that is too small to compress."""
    nodes = [node("MatMul", ["x", "w"], ["product"]), node("Add", ["product", "b"], ["y"])]
    return model(graph(nodes, [X], [Y], [weight("w", 32, 64), weight("b", 64)]))


@a_model
def tiny_layers():
    """Layers so small that converting their inputs costs more than integer kernels save."""
    nodes = []
    for i in range(200):
        nodes += [node("MatMul", [f"v{i}" if i else "x", f"w{i}"], [f"m{i}"]), node("Tanh", [f"m{i}"], [f"v{i + 1}"])]
    weights = [weight(f"w{i}", 8, 8) for i in range(200)]
    return model(graph(nodes, [value("x", [1, 8])], [value("v200", [1, 8])], weights))


@a_model
def gemm():
    """The channel axis follows transB."""
    nodes = [node("Gemm", ["x", "w", "b"], ["y"], [attribute("transB", 1)])]
    return model(graph(nodes, [X], [Y], [weight("w", 64, 32), weight("b", 64)]))


@a_model
def conv():
    nodes = [node("Conv", ["x", "w", "b"], ["y"], [attribute("pads", [1, 1, 1, 1])])]
    return model(graph(nodes, [value("x", [1, 8, 16, 16])], [value("y", [1, 16, 16, 16])], [weight("w", 16, 8, 3, 3), weight("b", 16)]))


@a_model
def conv_transpose():
    """Its channel axis is the second one."""
    nodes = [node("ConvTranspose", ["x", "w"], ["y"])]
    return model(graph(nodes, [value("x", [1, 8, 16, 16])], [value("y", [1, 16, 18, 18])], [weight("w", 8, 16, 3, 3)]))


@a_model
def lstm():
    """Two weights, each with directions and gates as channels."""
    nodes = [node("LSTM", ["x", "w", "r", "b"], ["y"], [attribute("hidden_size", 16)])]
    body = graph(nodes, [value("x", ["T", 1, 24])], [value("y", ["T", 1, 1, 16])],
                 [weight("w", 1, 64, 24), weight("r", 1, 64, 16), weight("b", 1, 128)])
    return model(body)


@a_model
def embedding():
    """Rows are dequantized after the lookup."""
    nodes = [node("Gather", ["table", "ids"], ["y"])]
    return model(graph(nodes, [value("ids", ["N"], INT64)], [value("y", ["N", 32])], [weight("table", 100, 32)]))


@a_model
def tied():
    """One table used twice: for a lookup, and transposed in a product. It must be stored once."""
    nodes = [node("Gather", ["table", "ids"], ["hidden"]), node("Transpose", ["table"], ["turned"], [attribute("perm", [1, 0])]),
             node("MatMul", ["hidden", "turned"], ["y"])]
    return model(graph(nodes, [value("ids", ["N"], INT64)], [value("y", ["N", 100])], [weight("table", 100, 32)]))


@a_model
def constants():
    """Weights in Constant nodes instead of initializers."""
    nodes = [constant("w", weight("", 32, 64)), node("MatMul", ["x", "w"], ["y"])]
    return model(graph(nodes, [X], [Y]))


@a_model
def branches():
    """Weights in both branches of an If with the same name, as exporters write them."""
    def branch(name):
        return graph([node("MatMul", ["x", "w"], [name + "_y"])], [], [value(name + "_y", ["N", 64])], [weight("w", 32, 64)], name)
    nodes = [node("If", ["flag"], ["y"], [graph_attribute("then_branch", branch("then")), graph_attribute("else_branch", branch("else"))])]
    return model(graph(nodes, [value("flag", [], BOOL), X], [Y]))


@a_model
def functions():
    """A weight in a Constant of a model-local function."""
    body = [constant("w", weight("", 32, 64)), node("MatMul", ["a", "w"], ["c"])]
    dense = function("Dense", ["a"], ["c"], body, "local", 17)
    return model(graph([node("Dense", ["x"], ["y"], domain="local")], [X], [Y]), other_opsets=[opset(1, "local")], functions=[dense])


@a_model
def external():
    """Two weights in one external data file, the second at a page boundary."""
    data = floats_of(random_floats("w", 32 * 64)).ljust(12288, b"\0") + floats_of(random_floats("v", 64 * 64))
    nodes = [node("MatMul", ["x", "w"], ["hidden"]), node("MatMul", ["hidden", "v"], ["y"])]
    weights = [external_tensor("w", [32, 64], "external.data", 0, 8192), external_tensor("v", [64, 64], "external.data", 12288, 16384)]
    return model(graph(nodes, [X], [Y], weights)), {"external.data": data}


@a_model
def trees():
    """Only a tree ensemble: its numbers are attributes, so there is no tensor to compress."""
    ensemble = {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0], "nodes_values": [0.5, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
        "class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 1], "class_weights": [1.0, 1.0],
        "classlabels_int64s": [0, 1], "post_transform": "NONE",
    }
    attributes = [attribute(name, content) for name, content in ensemble.items()]
    nodes = [node("TreeEnsembleClassifier", ["x"], ["label", "scores"], attributes, domain="ai.onnx.ml")]
    outputs = [value("label", ["N"], INT64), value("scores", ["N", 2])]
    return model(graph(nodes, [value("x", ["N", 1])], outputs), other_opsets=[opset(3, "ai.onnx.ml")])


@a_model
def zero():
    """A weight of zeros, and an ordinary one."""
    nodes = [node("MatMul", ["x", "w"], ["hidden"]), node("MatMul", ["hidden", "nothing"], ["y"])]
    return model(graph(nodes, [X], [Y], [weight("w", 32, 64), tensor("nothing", [64, 64], bytes(4 * 64 * 64))]))


@a_model
def nan():
    values = random_floats("w", 32 * 64)
    values[1000] = math.nan
    return one_matmul(tensor("w", [32, 64], floats_of(values)))


@a_model
def huge_values():
    """One weight exceeds the range of FP16, the other does not."""
    nodes = [node("MatMul", ["x", "loud"], ["hidden"]), node("MatMul", ["hidden", "quiet"], ["y"])]
    return model(graph(nodes, [X], [Y], [weight("loud", 32, 64, scale=1e6), weight("quiet", 64, 64)]))


@a_model
def enormous():
    """Sums of weights that barely fit float32, and overflow when the weights are rounded."""
    rows = [[1 + (7 * row * column + 3 * row + column) % 31 for column in range(64)] for row in range(32)]
    sums = [sum(row[column] for row in rows) for column in range(64)]
    weights = [row[column] / sums[column] * 3.4028e38 for row in rows for column in range(64)]
    nodes = [node("Mul", ["x", "zero"], ["zeros"]), node("Add", ["zeros", "one"], ["ones"]), node("MatMul", ["ones", "w"], ["y"])]
    constants = [tensor("w", [32, 64], floats_of(weights)), tensor("zero", [], floats_of([0])), tensor("one", [], floats_of([1]))]
    return model(graph(nodes, [X], [Y], constants))


@a_model
def denormal():
    """Subnormal weights."""
    return one_matmul(weight("w", 32, 64, scale=1e-40))


@a_model
def broken_bias():
    """A NaN, and a number beyond the range of FP16."""
    nodes = [node("LSTM", ["x", "w", "r", "b"], ["y"], [attribute("hidden_size", 16)])]
    bias = tensor("b", [1, 128], floats_of([math.nan, 2.9e38] + [0.5] * 126))
    return model(graph(nodes, [value("x", ["T", 1, 24])], [value("y", ["T", 1, 1, 16])], [weight("w", 1, 64, 24), weight("r", 1, 64, 16), bias]))


@a_model
def hostile_names():
    """Names with terminal escapes, names that look like messages of Ounce, and very long names."""
    evil, long = "w\u009b31m\u202e\u2028ounce: fake", "n" * 20000
    nodes = [node("MatMul", ["x", evil], [long], name=evil), node("MatMul", [long, "v"], ["y"], name=long)]
    body = graph(nodes, [X], [Y], [weight(evil, 32, 64), weight("v", 64, 64)])
    return model(body) + field(14, field(1, "note\x1b]0;title\x07") + field(2, "a\nounce: fake\x7f\u202e"))


@a_model
def log_commands():
    """Names that the log of a CI service would interpret as commands."""
    stop, matcher = "::stop-commands::token", "  ::error file=x::y ##[add-matcher]z"
    nodes = [node("MatMul", ["x", stop], ["h"], name=stop), node("MatMul", ["h", matcher], ["y"], name=matcher)]
    return model(graph(nodes, [X], [Y], [weight(stop, 32, 64), weight(matcher, 64, 64)]))


@a_model
def two_versions():
    """The same domain imported twice."""
    return one_matmul(weight("w", 32, 64), other_opsets=[opset(1)])


@a_model
def defined_twice():
    """Two nodes with the same output."""
    nodes = [node("MatMul", ["x", "w"], ["y"]), node("MatMul", ["x", "w"], ["y"])]
    return model(graph(nodes, [X], [Y], [weight("w", 32, 64)]))


@a_model
def far_version():
    """An invalid, huge version."""
    return one_matmul(weight("w", 32, 64), other_opsets=[opset(1 << 40, "com.microsoft")])


@a_model
def quantized():
    """Partly quantized by another tool."""
    codes = tensor("codes", [32, 64], bytes(i % 251 for i in range(32 * 64)), INT8)
    nodes = [node("DequantizeLinear", ["codes", "scale"], ["w"]), node("MatMul", ["x", "w"], ["hidden"]),
             node("MatMul", ["hidden", "v"], ["y"])]
    return model(graph(nodes, [X], [Y], [codes, tensor("scale", [], floats_of([0.01])), weight("v", 64, 64)]))


@a_model
def ir3():
    """Before IR 4 every initializer is also an input; it is not meant to be overridden."""
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    return model(graph(nodes, [X, value("w", [32, 64])], [Y], [weight("w", 32, 64)]), version=8, ir_version=3)


@a_model
def overridable():
    """The same with IR 8, where the initializer is a default that a caller may replace."""
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    return model(graph(nodes, [X, value("w", [32, 64])], [Y], [weight("w", 32, 64)]))


@a_model
def opset6():
    """An opset without broadcasting, so that weights cannot be dequantized."""
    return one_matmul(weight("w", 32, 64), version=6, ir_version=3)


@a_model
def opset21():
    """An opset with all forms of DequantizeLinear."""
    return one_matmul(weight("w", 32, 64), version=21, ir_version=10)


@a_model
def large():
    """One tensor that is divided between threads (over 4 MiB) among small ones that are not."""
    nodes, weights = [node("MatMul", ["x", "w"], ["h0"])], [weight("w", 32, 512)]
    nodes.append(node("MatMul", ["h0", "wide"], ["h1"]))
    weights.append(weight("wide", 512, 2304))
    nodes.append(node("MatMul", ["h1", "narrow"], ["y"]))
    weights.append(weight("narrow", 2304, 64))
    return model(graph(nodes, [X], [Y], weights))


# Models for verbs that run them. Their arithmetic is exact, so all CPUs give the same digits.

SCORES_X = [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 4, 0], [1, 0, 0, 1], [0, 1, 0, -1], [0, 0, 2, 1], [2, 1, 0, 0], [0, 1, 2, 0]]
SCORES_LABELS = [0, 1, 2, 0, 1, 2, 0, 2]


def scores_model(weights):
    nodes = [node("MatMul", ["x", "w"], ["logits"])]
    return model(graph(nodes, [value("x", ["N", 4])], [value("logits", ["N", 3])], [tensor("w", [4, 3], floats_of(weights))]))


@a_model
def scores():
    """Three classes from four numbers, with data for which all predictions are correct."""
    flat = [number for row in SCORES_X for number in row]
    count = len(SCORES_X)
    return scores_model([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), {
        "scores.npz": npz(x=npy("f", [count, 4], flat), label=npy("q", [count], SCORES_LABELS), more=npy("f", [3, 4], flat[:12])),
        "scores.nan.npz": npz(x=npy("f", [2, 4], flat[:6] + [math.nan, 1])),
        "scores.empty.npz": npz(x=npy("f", [0, 4], [])),
        "scores.wide.npz": npz(x=npy("f", [2, 5], flat[:10])),
        "scores.whole.npz": npz(x=npy("B", [2, 4], [1, 2, 3, 4, 5, 6, 7, 8])),
        "scores.csv": b"label,x\n1,2\n",
    }


@a_model
def scores_near():
    """The same except for a difference of an eighth, which changes some predictions."""
    return scores_model([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0.125, 0])


@a_model
def scores_far():
    """The last class is never predicted."""
    return scores_model([1, 0, 0, 0, 1, 0, 0, 1, 0.5, 0, 0, 0])


@a_model
def scores_fragile():
    """The same, but gives NaN for values above 8: it adds zero times the square root of a negative number."""
    nodes = [node("MatMul", ["x", "w"], ["product"]), node("Abs", ["product"], ["size"]), node("Sub", ["eight", "size"], ["room"]),
             node("Sqrt", ["room"], ["root"]), node("Mul", ["root", "zero"], ["nothing"]), node("Add", ["product", "nothing"], ["logits"])]
    weights = [tensor("w", [4, 3], floats_of([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])), tensor("eight", [], floats_of([8])),
               tensor("zero", [], floats_of([0]))]
    return model(graph(nodes, [value("x", ["N", 4])], [value("logits", ["N", 3])], weights))


# Boxes in pixels and scores of two classes in one output, as many detectors give them: [1,4+C,N].
DETECTOR_PLACES = 64


def detector_model(score_scale, noise, pixels=256):
    nodes = [node("Mul", ["x", "w"], ["scaled"]), node("Add", ["scaled", "noise"], ["output0"])]
    wave = [(1 - 2 * (place % 2)) * (noise if channel > 3 else 0.25 if noise else 0) for channel in range(6) for place in range(DETECTOR_PLACES)]
    weights = [tensor("w", [1, 6, 1], floats_of([pixels, pixels, 64, 64, score_scale, score_scale])),
               tensor("noise", [1, 6, DETECTOR_PLACES], floats_of(wave))]
    shape = [1, 6, DETECTOR_PLACES]
    return model(graph(nodes, [value("x", shape)], [value("output0", shape)], weights))


@a_model
def detector():
    """Two objects in each of two images."""
    pictures = []
    for first, second in [(5, 40), (12, 55)]:
        ramp = [place / DETECTOR_PLACES for place in range(DETECTOR_PLACES)]
        half = [0.5] * DETECTOR_PLACES
        scores = [[1.0 if place == first else 0.0 for place in range(DETECTOR_PLACES)], [0.75 if place == second else 0.0 for place in range(DETECTOR_PLACES)]]
        for channel in [ramp, ramp, half, half] + scores:
            pictures += channel
    nothing = [number if channel < 4 else 0.03125 for channel in range(6) for number in pictures[channel * DETECTOR_PLACES:(channel + 1) * DETECTOR_PLACES]]
    return detector_model(1, 0), {
        "detector.npz": npz(x=npy("f", [2, 6, DETECTOR_PLACES], pictures)),
        "detector.empty.npz": npz(x=npy("f", [2, 6, DETECTOR_PLACES], nothing * 2)),
    }


@a_model
def detector_noisy():
    """Noise that is small relative to the boxes and large relative to the scores."""
    return detector_model(1, 0.0625)


@a_model
def detector_rounded():
    """Weights beyond the range of FP16."""
    return detector_model(0.9, 0, 255.9)


@a_model
def detector_blind():
    """Detects no objects."""
    return detector_model(0.03125, 0)


@a_model
def signal():
    """Two Convs, a Relu and a Gemm over a signal of 32 numbers, and data for it."""
    kernel = [((7 * n) % 13 - 6) / 16 for n in range(8 * 1 * 5)]
    wide = [((11 * n) % 17 - 8) / 32 for n in range(16 * 8 * 3)]
    dense = [((5 * n) % 19 - 9) / 64 for n in range(4 * 16)]
    nodes = [node("Conv", ["x", "w1", "b1"], ["a"], name="first"), node("Relu", ["a"], ["b"]),
             node("Conv", ["b", "w2"], ["c"], name="second"), node("Relu", ["c"], ["d"]), node("GlobalAveragePool", ["d"], ["e"]),
             node("Flatten", ["e"], ["f"]), node("Gemm", ["f", "w3", "b3"], ["y"], [attribute("transB", 1)], name="last")]
    weights = [tensor("w1", [8, 1, 5], floats_of(kernel)), tensor("b1", [8], floats_of([n / 8 - 0.5 for n in range(8)])),
               tensor("w2", [16, 8, 3], floats_of(wide)), tensor("w3", [4, 16], floats_of(dense)),
               tensor("b3", [4], floats_of([0.5, -0.25, 0, 1]))]
    samples = [((n * n * 31 + 17 * n) % 257 - 128) / 64 for n in range(24 * 32)]
    return model(graph(nodes, [value("x", ["N", 1, 32])], [value("y", ["N", 4])], weights)), {
        "signal.npz": npz(x=npy("f", [24, 1, 32], samples)),
        "signal.one.npz": npz(x=npy("f", [1, 1, 32], samples[:32])),
        "signal.still.npz": npz(x=npy("f", [16, 1, 32], [0.5] * 512)),
        "signal.nan.npz": npz(x=npy("f", [2, 1, 32], samples[:63] + [math.nan])),
    }


@a_model
def dynamic_conv():
    """A Conv with signed weights as onnxruntime.quantization writes it, which older releases do not load; and an unknown op."""
    nodes = [node("DynamicQuantizeLinear", ["x"], ["codes", "scale", "zero"], name="coded"),
             node("ConvInteger", ["codes", "w", "zero", "wz"], ["sums"], name="product"), node("Cast", ["sums"], ["y"], [attribute("to", FLOAT)])]
    constants = [tensor("w", [4, 3, 3, 3], bytes(n % 100 for n in range(108)), INT8), tensor("wz", [], b"\0", INT8)]
    return model(graph(nodes, [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 6, 6])], constants), version=13)


@a_model
def masked():
    """Attention as separate ops, with values beyond the range of FP16: a mask of -1e9, squares, an epsilon of 1e-8."""
    nodes = [node("Mul", ["x", "x"], ["squares"]), node("ReduceMean", ["squares"], ["mean"], [attribute("axes", [-1])]),
             node("Add", ["mean", "epsilon"], ["guarded"]), node("Sqrt", ["guarded"], ["norm"]), node("Div", ["x", "norm"], ["even"]),
             node("MatMul", ["even", "w"], ["scores"], name="scores"), node("Cast", ["mask"], ["seen"], [attribute("to", FLOAT)]),
             node("Sub", ["one", "seen"], ["hidden"]), node("Mul", ["hidden", "never"], ["bias"]), node("Add", ["scores", "bias"], ["biased"]),
             node("Softmax", ["biased"], ["shares"]), node("MatMul", ["shares", "v"], ["y"], name="mix")]
    constants = [weight("w", 32, 16), weight("v", 16, 64), tensor("epsilon", [], floats_of([1e-8])), tensor("one", [], floats_of([1])),
                 tensor("never", [], floats_of([-1e9]))]
    samples = [((n * n * 31 + 17 * n) % 257 - 128) / 64 for n in range(8 * 32)]
    return model(graph(nodes, [X, value("mask", ["N", 16], INT64)], [Y], constants), version=13), {
        "masked.npz": npz(x=npy("f", [8, 32], samples), mask=npy("q", [8, 16], [n % 3 != 0 for n in range(128)]))}


@a_model
def loud():
    """A value beyond the range of FP16, between layers within it."""
    nodes = [node("MatMul", ["x", "w"], ["h"]), node("Mul", ["h", "up"], ["high"]), node("Mul", ["high", "up"], ["peak"]),
             node("Mul", ["peak", "down"], ["back"]),
             node("MatMul", ["back", "v"], ["y"])]
    constants = [weight("w", 32, 64), weight("v", 64, 64), tensor("up", [], floats_of([50000])), tensor("down", [], floats_of([0.0005]))]
    samples = [((n * n * 31 + 17 * n) % 257 - 128) / 16 for n in range(8 * 32)]
    return model(graph(nodes, [X], [Y], constants)), {"loud.npz": npz(x=npy("f", [8, 32], samples))}


@a_model
def trained():
    """A result of quantization-aware training: given scales, float weights with Q and DQ, one op in FP32."""
    coded = lambda name, scale, zero: [node("QuantizeLinear", [name, scale, zero], [name + "_q"]),
                                       node("DequantizeLinear", [name + "_q", scale, zero], [name + "_d"])]
    nodes = [*coded("x", "sx", "zx"), *coded("w", "sw", "zw"), node("MatMul", ["x_d", "w_d"], ["h"], name="inner"),
             *coded("h", "sx", "zx"), node("MatMul", ["h_d", "v"], ["y"], name="outer")]
    constants = [weight("w", 32, 64), weight("v", 64, 64), tensor("sx", [], floats_of([1 / 32])), tensor("zx", [], b"\x80", UINT8),
                 tensor("sw", [], floats_of([1 / 64])), tensor("zw", [], b"\0", INT8)]
    return model(graph(nodes, [X], [Y], constants))


@a_model
def qat():
    """A result of quantization-aware training: float weights with Q and DQ, one of which saturates on CPUs without VNNI."""
    coded = lambda name, scale, zero: [node("QuantizeLinear", [name, scale, zero], [name + "_q"]),
                                       node("DequantizeLinear", [name + "_q", scale, zero], [name + "_d"])]
    nodes = [*coded("x", "sx", "zx"), *coded("w", "sw", "zw"), node("MatMul", ["x_d", "w_d"], ["h"], name="wide"),
             *coded("h", "sx", "zx"), *coded("v", "sw", "zw"), node("MatMul", ["h_d", "v_d"], ["y"], name="narrow")]
    constants = [tensor("w", [16, 16], floats_of([(127 if n % 3 else -90) / 256 for n in range(256)])),
                 tensor("v", [16, 4], floats_of([(n % 100 - 50) / 256 for n in range(64)])),
                 tensor("sx", [], floats_of([1 / 16])), tensor("zx", [], b"\x80", UINT8),
                 tensor("sw", [], floats_of([1 / 256])), tensor("zw", [], b"\0", INT8)]
    return model(graph(nodes, [value("x", [1, 16])], [value("y", [1, 4])], constants))


@a_model
def saturating():
    """A model of another tool: neighboring weights so large that sums of two products exceed 16 bits. And its FP32 original."""
    coded = [node("QuantizeLinear", ["x", "sx", "zx"], ["x_q"]), node("DequantizeLinear", ["x_q", "sx", "zx"], ["x_d"]),
             node("DequantizeLinear", ["w_q", "sw", "zw"], ["w"]), node("MatMul", ["x_d", "w"], ["y"], name="product")]
    codes = [127 if n % 3 else -90 for n in range(16 * 4)]
    constants = [tensor("sx", [], floats_of([1 / 64])), tensor("zx", [], b"\0", UINT8), tensor("sw", [], floats_of([1 / 64])),
                 tensor("zw", [], b"\0", INT8), tensor("w_q", [16, 4], bytes(code & 255 for code in codes), INT8)]
    ports = [value("x", [1, 16])], [value("y", [1, 4])]
    floats = graph([node("MatMul", ["x", "w"], ["y"])], *ports, [tensor("w", [16, 4], floats_of([code / 64 for code in codes]))])
    samples = [3 + n * n % 7 / 8 for n in range(8 * 16)]
    return model(graph(coded, *ports, constants)), {"saturating.floats.onnx": model(floats),
                                                    "saturating.npz": npz(x=npy("f", [8, 1, 16], samples))}


@a_model
def counter():
    """A recurrent state: the sum of all inputs so far, which is fed to the next run."""
    nodes = [node("ReduceSum", ["sound"], ["sum"], [attribute("keepdims", 1)]), node("Add", ["sum", "state"], ["state_out"]),
             node("Mul", ["state_out", "one"], ["loudness"])]
    body = graph(nodes, [value("sound", [1, 4]), value("state", [1, 1])], [value("loudness", [1, 1]), value("state_out", [1, 1])],
                 [tensor("one", [], floats_of([1]))])
    return model(body), {"counter.wav": wav(8000, [256 * n for n in range(18)]), "counter.slow.wav": wav(4000, [0] * 8)}


@a_model
def pixels():
    """The mean of each color of an image of 2 × 2 pixels."""
    nodes = [node("GlobalAveragePool", ["image"], ["mean"]), node("Flatten", ["mean"], ["colours"])]
    ramp = [16 * n for n in range(12)]
    return model(graph(nodes, [value("image", ["N", 3, 2, 2])], [value("colours", ["N", 3])])), {
        "pixels.png": png(2, 2, ramp), "pixels.toml": b'[inputs.image]\nkind = "image"\nrescale_factor = 0.0078125\nlayout = "nchw"\n',
        "pixels.typo.json": b'{"inputs": {"image": {"rescale_facter": 0.5}}}',
        "pixels.npz": npz(image=npy("B", [20, 2, 2, 3], ramp * 20)),
        "pixels.floats.npz": npz(image=npy("f", [20, 3, 2, 2], [number - 128 for number in ramp] * 20)),
    }


@a_model
def endless():
    """An endless Loop, with a weight to compress."""
    body = graph([node("Identity", ["go"], ["go_on"]), node("MatMul", ["v", "w"], ["v_out"])],
                 [value("i", [], INT64), value("go", [], BOOL), value("v", [1, 32])], [value("go_on", [], BOOL), value("v_out", [1, 32])])
    nodes = [node("Loop", ["trips", "true", "x"], ["y"], [graph_attribute("body", body)])]
    weights = [weight("w", 32, 32), tensor("trips", [], b"\xff" * 7 + b"\x7f", INT64), tensor("true", [], b"\x01", BOOL)]
    return model(graph(nodes, [value("x", [1, 32])], [value("y", [1, 32])], weights))


# Models for the search for mixed precision: one layer loses all accuracy in INT8, the others tolerate it.

def even_numbers(seed, count):
    """Values from -1 to 1, the same on every machine and in tests/support/fatal_layer.h."""
    numbers = []
    for _ in range(count):
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        numbers.append((seed >> 40) / 2**23 - 1)
    return numbers


def twin_columns(seed, rows, columns, scale):
    """A weight whose columns 2k and 2k + 1 are equal, so that its outputs are pairs of equal values."""
    numbers = even_numbers(seed, rows * columns // 2)
    return [scale * numbers[(row * columns + column) // 2] for row in range(rows) for column in range(columns)]


def fatal_weight(seed, rows, columns, scale):
    """Its inputs are pairs of equal values: 64 and -64 in every row, column and block of eight cancel out, and the result comes
    from weights that are less than half a step of any 8-bit scale that covers 64. 16-bit scales represent both."""
    numbers = twin_columns(seed, rows, columns, scale)
    for row in range(rows):
        for column in range(columns):
            if (row // 2 - column // 2) % 4 == 0:
                numbers[row * columns + column] = -64 if row % 2 else 64
    return numbers


def product(vector, weights):
    columns = len(weights) // len(vector)
    return [sum(number * weights[row * columns + column] for row, number in enumerate(vector)) for column in range(columns)]


def clear_samples(answers, width, count):
    """This number of inputs whose best class leads by a fifth of the scores' size, each with its class."""
    samples, labels, seed = [], [], 0
    while len(labels) < count:
        seed += 1
        x = even_numbers(1000 + seed, width)
        scores = answers(x)
        best, second = sorted(scores)[:-3:-1]
        if best - second > 0.2 * max(map(abs, scores)):
            samples += x
            labels.append(scores.index(best))
    return {"x": npy("f", [count, width], samples), "label": npy("q", [count], labels)}


@a_model
def fatal():
    """Five layers; 'third' loses all accuracy with 8-bit weights or in INT8, but not in 16 bits."""
    layers = {"first": twin_columns(1, 32, 32, .4), "second": twin_columns(2, 32, 32, .4), "third": fatal_weight(3, 32, 32, .2),
              "fourth": twin_columns(4, 32, 32, .4), "fifth": even_numbers(5, 32 * 10)}
    nodes, value_before = [], "x"
    for name in layers:
        last = name == "fifth"
        nodes.append(node("MatMul", [value_before, f"{name}.weight"], ["y" if last else f"{name}.sum"], name=name))
        if not last:
            nodes.append(node("Tanh" if name in ("second", "third") else "Relu", [f"{name}.sum"], [f"{name}.out"]))
        value_before = f"{name}.out"
    weights = [tensor(f"{name}.weight", [32, len(w) // 32], floats_of(w)) for name, w in layers.items()]

    def answers(x):
        for name, w in layers.items():
            x = product(x, w)
            if name in ("second", "third"):
                x = [math.tanh(number) for number in x]
            elif name != "fifth":
                x = [max(number, 0) for number in x]
        return x

    return model(graph(nodes, [value("x", ["N", 32])], [value("y", ["N", 10])], weights)), {
        "fatal.npz": npz(**clear_samples(answers, 32, 64))}


@a_model
def chain():
    """200 small layers, each adding a small amount to its input; 'layer100' replaces it, and loses all accuracy in INT8."""
    width, count = 20, 200
    layers = [twin_columns(10 + n, width, width, .3) for n in range(count)]
    layers[0] = twin_columns(10, width, width, .6)
    layers[100] = fatal_weight(110, width, width, .2)
    nodes, before = [], "x"
    for n in range(count):
        after = "y" if n == count - 1 else f"out{n:03}"
        if n in (0, 100):
            nodes += [node("MatMul", [before, f"w{n:03}"], [f"sum{n:03}"], name=f"layer{n:03}"), node("Tanh", [f"sum{n:03}"], [after])]
        else:
            nodes += [node("MatMul", [before, f"w{n:03}"], [f"sum{n:03}"], name=f"layer{n:03}"),
                      node("Tanh", [f"sum{n:03}"], [f"more{n:03}"]), node("Mul", [f"more{n:03}", "little"], [f"step{n:03}"]),
                      node("Add", [before, f"step{n:03}"], [after])]
        before = after
    weights = [tensor(f"w{n:03}", [width, width], floats_of(w)) for n, w in enumerate(layers)]
    weights.append(tensor("little", [], floats_of([1 / 32])))
    return model(graph(nodes, [value("x", ["N", width])], [value("y", ["N", width])], weights)), {
        "chain.npz": npz(x=npy("f", [64, width], even_numbers(7, 64 * width)))}


@a_model
def memory():
    """A recurrent state of 32 numbers that every layer uses, and a sequence of forty steps."""
    nodes = [node("MatMul", ["x", "w"], ["heard"], name="hear"), node("MatMul", ["state", "u"], ["kept"], name="keep"),
             node("Add", ["heard", "kept"], ["sum"]), node("Tanh", ["sum"], ["state_out"]), node("MatMul", ["state_out", "v"], ["y"], name="say")]
    body = graph(nodes, [value("x", [1, 16]), value("state", [1, 32])], [value("y", [1, 24]), value("state_out", [1, 32])],
                 [weight("w", 16, 32), weight("u", 32, 32), weight("v", 32, 24)])
    return model(body), {"memory.npz": npz(x=npy("f", [40, 16], even_numbers(11, 40 * 16)))}


@a_model
def small_convs():
    """Layers too small to compress, which can run in INT8 nevertheless."""
    nodes, before = [], "x"
    for n in range(3):
        after = "y" if n == 2 else f"out{n}"
        nodes += [node("Conv", [before, f"w{n}"], [f"sum{n}"], [attribute("pads", [1, 1])], name=f"conv{n}"), node("Relu", [f"sum{n}"], [after])]
        before = after
    body = graph(nodes, [value("x", [1, 8, 256])], [value("y", [1, 8, 256])], [weight(f"w{n}", 8, 8, 3) for n in range(3)])
    return model(body), {"small_convs.npz": npz(x=npy("f", [8, 8, 256], even_numbers(13, 8 * 8 * 256)))}


@a_model
def seen_from_branches():
    """A Conv whose result is transposed and then used only in the branches of an If. Runtimes abort on Q and DQ in front of that
    Transpose: they move DQ past it and do not expect a use in a subgraph."""
    def branch(op, output):
        return graph([node(op, ["turned"], [output])], [], [value(output, [1, 30, 16])], [], output)
    nodes = [node("Conv", ["x", "w"], ["c"], name="product"), node("Transpose", ["c"], ["turned"], [attribute("perm", [0, 2, 1])]),
             node("Greater", ["choice", "zero"], ["flag"]),
             node("If", ["flag"], ["y"], [graph_attribute("then_branch", branch("Sin", "a")), graph_attribute("else_branch", branch("Cos", "b"))])]
    body = graph(nodes, [value("x", [1, 8, 32]), value("choice", [])], [value("y", [1, 30, 16])],
                 [weight("w", 16, 8, 3), tensor("zero", [], floats_of([0]))])
    return model(body), {"seen_from_branches.npz": npz(x=npy("f", [16, 8, 32], even_numbers(9, 16 * 8 * 32)))}


@a_model
def fans():
    """A value concatenated with itself, sixty times at each of seven steps, which gives a huge number of paths."""
    nodes = [node("MatMul", ["x", "w"], ["v"]), node("Relu", ["v"], ["y"]), node("Slice", ["x", "zero", "zero"], ["c0"])]
    for step in range(7):
        nodes.append(node("Concat", [f"c{step}"] * 60, [f"c{step + 1}"], [attribute("axis", 0)]))
    nodes.append(node("Relu", ["c7"], ["z"]))
    return model(graph(nodes, [value("x", [1, 64])], [value("y", [1, 64]), value("z", ["M", 64])], [weight("w", 64, 64), ints("zero", 0)])), {
        "fans.npz": npz(x=npy("f", [16, 64], even_numbers(9, 16 * 64)))}


def sequence_of_maps(name):
    """The output of ZipMap: for each sample the classes with their scores."""
    numbers = field(1, field(1, FLOAT) + field(2, b""))
    return field(1, name) + field(2, field(4, field(1, field(5, field(1, INT64) + field(2, numbers)))))


def sequence_of_tensors(name):
    return field(1, name) + field(2, field(4, field(1, field(1, field(1, FLOAT)))))


@a_model
def zipmap():
    """A classifier as scikit-learn's converter writes it, with the class and a sequence of maps as outputs; and input data."""
    nodes = [node("MatMul", ["x", "w"], ["scores"]), node("Softmax", ["scores"], ["shares"]),
             node("ArgMax", ["shares"], ["label"], [attribute("axis", 1), attribute("keepdims", 0)]),
             node("ZipMap", ["shares"], ["probabilities"], [attribute("classlabels_int64s", [0, 1, 2])], domain="ai.onnx.ml")]
    outputs = [value("label", ["N"], INT64), sequence_of_maps("probabilities")]
    samples = [[math.floor(100 * number) / 10 for number in random_floats(f"zipmap {row}", 128, 1)] for row in range(24)]
    header = ",".join(f"f{i}" for i in range(128))
    rows = [",".join(f"{number:g}" for number in sample) + f",{row % 3}.0" for row, sample in enumerate(samples)]
    return model(graph(nodes, [value("x", ["N", 128])], outputs, [weight("w", 128, 3)]), other_opsets=[opset(3, "ai.onnx.ml")]), {
        "zipmap.csv": "\n".join([header + ",class"] + rows).encode(),
        "zipmap.npz": npz(x=npy("f", [24, 128], [number for sample in samples for number in sample])),
    }


CLASSIFIER_X = [[1, 1 + (row - 20) / 16 - 1 / 128] for row in range(40)]  # the 20th is next to the border


def classifier_model(last):
    """Two classes as scikit-learn's converter writes them without ZipMap: a label, and a probability for each class."""
    nodes = [node("MatMul", ["x", "w"], ["scores"]), node("Softmax", ["scores"], ["probabilities"]),
             node("ArgMax", ["probabilities"], ["label"], [attribute("axis", 1), attribute("keepdims", 0)])]
    outputs = [value("label", ["N"], INT64), value("probabilities", ["N", 2])]
    return model(graph(nodes, [value("x", ["N", 2])], outputs, [tensor("w", [2, 2], floats_of([1, 0, 0, last]))]))


@a_model
def classifier():
    """The data contains its probabilities as another program computed them, which are nearly equal."""
    shares = [1 / (1 + math.exp(y - x)) for x, y in CLASSIFIER_X]
    proba = [number for share in shares for number in (share, 1 - share)]
    return classifier_model(1), {
        "classifier.npz": npz(x=npy("f", [40, 2], [number for row in CLASSIFIER_X for number in row]), proba=npy("f", [40, 2], proba)),
    }


@a_model
def classifier_near():
    """One of forty labels is wrong."""
    return classifier_model(1 + 1 / 64)


@a_model
def classifier_far():
    """A quarter of the labels are wrong."""
    return classifier_model(2)


@a_model
def parts():
    """Its output is a sequence of tensors."""
    nodes = [node("MatMul", ["x", "w"], ["y"]), node("SplitToSequence", ["y"], ["rows"], [attribute("axis", 1)])]
    return model(graph(nodes, [X], [sequence_of_tensors("rows")], [weight("w", 32, 64)]))


def halves_of(values):
    return b"".join(struct.pack("<e", number) for number in values)


@a_model
def half():
    """Runs in FP16."""
    nodes = [node("MatMul", ["x", "w"], ["product"]), node("Relu", ["product"], ["y"])]
    return model(graph(nodes, [value("x", ["N", 32], FLOAT16)], [value("y", ["N", 64], FLOAT16)],
                       [tensor("w", [32, 64], halves_of(random_floats("w", 2048)), FLOAT16)]))


@a_model
def integer_conv():
    """Quantized by another tool with integer ops, except one Conv."""
    codes = tensor("codes", [8, 8, 3, 3], bytes(range(1, 255))[:192] * 3, UINT8)
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]), node("ConvInteger", ["q", "codes", "zero"], ["sums"]),
             node("Cast", ["sums"], ["floats"], [attribute("to", 1)]), node("Mul", ["floats", "scale"], ["scaled"]),
             node("Conv", ["scaled", "w"], ["y"])]
    return model(graph(nodes, [value("x", [1, 8, 8, 8])], [value("y", [1, 8, 4, 4])], [codes, weight("w", 8, 8, 3, 3)]))


@a_model
def few_bits():
    """Only a product with 4-bit weights, written by another tool."""
    codes = tensor("codes", [32, 1, 16], bytes(range(256)) * 2, UINT8)
    product = [attribute("K", 32), attribute("N", 32), attribute("bits", 4), attribute("block_size", 32)]
    nodes = [node("MatMulNBits", ["x", "codes", "scales"], ["y"], product, domain="com.microsoft")]
    return model(graph(nodes, [value("x", ["N", 32])], [value("y", ["N", 32])], [codes, weight("scales", 32)]),
                 other_opsets=[opset(1, "com.microsoft")])


@a_model
def pooled():
    """An average without an FP16 kernel for arm64 in this opset."""
    nodes = [node("Conv", ["x", "w"], ["hidden"]), node("AveragePool", ["hidden"], ["y"], [attribute("kernel_shape", [2, 2])])]
    return model(graph(nodes, [value("x", [1, 8, 8, 8])], [value("y", [1, 16, 5, 5])], [weight("w", 16, 8, 3, 3)]), version=19, ir_version=9)


@a_model
def future():
    """Gelu came with opset 20."""
    return model(graph([node("Gelu", ["x"], ["y"])], [X], [value("y", ["N", 32])]), version=13)


@a_model
def past():
    """Upsample was removed in opset 10."""
    nodes = [node("Upsample", ["x", "scales"], ["y"])]
    return model(graph(nodes, [value("x", [1, 1, 2, 2])], [value("y", [1, 1, 4, 4])],
                       [tensor("scales", [4], floats_of([1, 1, 2, 2]))]), version=13)


@a_model
def column():
    """A fixed input of three rows, which are not samples."""
    nodes = [node("MatMul", ["w", "x"], ["y"])]
    return model(graph(nodes, [value("x", [3, 1])], [value("y", [512, 1])], [weight("w", 512, 3)])), {
        "column.npz": npz(x=npy("f", [5, 3, 1], [number / 4 for number in range(15)]))}


@a_model
def chaotic():
    """The sine of large numbers, which turns small errors into large ones."""
    nodes = [node("MatMul", ["x", "w"], ["product"], name="product"), node("Mul", ["product", "factor"], ["large"]), node("Sin", ["large"], ["y"])]
    body = graph(nodes, [value("x", ["N", 64])], [value("y", ["N", 64])], [weight("w", 64, 64), tensor("factor", [], floats_of([1000]))])
    return model(body), {"chaotic.npz": npz(x=npy("f", [16, 64], even_numbers(9, 16 * 64)))}


def decoder(is_cached):
    """Attention over words and positions: with a cache of the past, or with the whole text at once."""
    past = ["past_key_values.0.key", "past_key_values.0.value"] if is_cached else []
    nodes = [node("Gather", ["table", "input_ids"], ["words"]), node("Gather", ["places", "position_ids"], ["places_at"]),
             node("Add", ["words", "places_at"], ["x"])]
    nodes += [node("MatMul", ["x", name], [name + "_new"]) for name in ("q", "k", "v")]
    for kept, new, now in zip(past, ("k_new", "v_new"), ("present.0.key", "present.0.value")):
        nodes.append(node("Concat", [kept, new], [now], [attribute("axis", 1)]))
    keys, values = ("present.0.key", "present.0.value") if is_cached else ("k_new", "v_new")
    nodes += [node("Transpose", [keys], ["keys"], [attribute("perm", [0, 2, 1])]), node("MatMul", ["q_new", "keys"], ["likeness"]),
              node("Shape", ["attention_mask"], ["mask_shape"]), node("Gather", ["mask_shape", "one"], ["length"]),
              node("Range", ["zero", "length", "one"], ["key_places"]), node("Unsqueeze", ["position_ids", "last"], ["query_places"]),
              node("LessOrEqual", ["key_places", "query_places"], ["is_past"]), node("Where", ["is_past", "likeness", "never"], ["seen"]),
              node("Softmax", ["seen"], ["shares"]), node("MatMul", ["shares", values], ["mixed"]), node("MatMul", ["mixed", "o"], ["changed"]),
              node("Add", ["x", "changed"], ["y"]), node("MatMul", ["y", "head"], ["logits"])]
    scalar = [tensor(name, [], struct.pack("<q", number), INT64) for name, number in (("zero", 0), ("one", 1))]
    weights = [weight("table", 64, 32, scale=1), weight("places", 48, 32, scale=1), weight("head", 32, 64, scale=0.3)]
    weights += [weight(name, 32, 32, scale=0.3) for name in ("q", "k", "v", "o")]
    inputs = [value(name, ["N", length], INT64) for name, length in (("input_ids", "T"), ("attention_mask", "L"), ("position_ids", "T"))]
    outputs = [value("logits", ["N", "T", 64])]
    if is_cached:
        inputs += [value(name, ["N", "P", 32]) for name in past]
        outputs += [value(name, ["N", "L", 32]) for name in ("present.0.key", "present.0.value")]
    body = graph(nodes, inputs, outputs, weights + scalar + [ints("last", 2), tensor("never", [], floats_of([-1e9]))])
    return model(body)


@a_model
def cached():
    """With a cache of keys and values."""
    ids = [(7 * number * number + 3 * number) % 64 for number in range(3 * 24)]
    return decoder(True), {"cached.npz": npz(input_ids=npy("q", [3, 24], ids))}


@a_model
def uncached():
    """The same with the whole text at once."""
    return decoder(False)


@a_model
def wide():
    """More inputs than are fitted at once."""
    nodes = [node("MatMul", ["x", "w"], ["y"], name="product")]
    body = graph(nodes, [value("x", ["N", 5000])], [value("y", ["N", 8])], [weight("w", 5000, 8)])
    return model(body), {"wide.npz": npz(x=npy("f", [24, 5000], even_numbers(3, 24 * 5000)))}


@a_model
def text():
    return b"This is not a model.\n"


@a_model
def empty():
    return b""


@a_model
def truncated():
    """A download that stopped in the middle of a weight."""
    return matmul()[:5000]


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for make in MODELS:
        made = make()
        content, others = made if isinstance(made, tuple) else (made, {})
        for name, data in {make.__name__ + ".onnx": content, **others}.items():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
