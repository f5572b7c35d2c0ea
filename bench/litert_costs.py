#!/usr/bin/env python3
"""Measures LiteRT's kernels on this CPU, and fits the constants of src/formats/tflite/plan/kernel_costs.h.

usage: bench/litert_costs.py --measure FILE.jsonl [--only CONV_2D,ADD] [--slot .02] [--rounds 5]    one line per case
       bench/litert_costs.py --fit FILE.jsonl [--rows]      prints the constants and their errors
       (--rows > src/formats/tflite/plan/kernel_costs.inc: as C++)

Needs numpy, flatbuffers and ai-edge-litert (pip). Each case is a model of a few copies of one op, in FP32, in INT8 (static)
and, for ops with weights, with INT8 weights and FP32 activations (hybrid). LiteRT runs each with XNNPACK on one thread. The
variants of a case run in alternating slots of CPU time, together with a reference convolution. Times are scaled by the speed of
the reference, which removes the effect of other work on the machine. The least time of the rounds counts.

The fit is a sum of non-negative terms with the least relative error. Rows are printed with the median and the ninth decile of
their leave-one-out error, which is the error of the estimate for a case that was not part of the fit.
"""

import argparse
import collections
import importlib.metadata
import json
import math
import random
import statistics
import sys
import time

import numpy as np

FP32, INT8, HYBRID = "fp32", "int8", "hybrid"


# --- models -----------------------------------------------------------------------------------------------------------

class Model:
    """A TFLite model of one subgraph, tensor by tensor and operator by operator."""

    def __init__(self, variant):
        from ai_edge_litert import schema_py_generated as schema
        self.schema, self.variant = schema, variant
        self.tensors, self.buffers, self.operators, self.codes = [], [schema.BufferT()], [], []
        self.inputs, self.outputs = [], []
        self.random = np.random.default_rng(1)

    def tensor(self, dims, kind=None, data=None, scale=None, zero=0, axis=0):
        s = self.schema
        types = {"float32": s.TensorType.FLOAT32, "int8": s.TensorType.INT8, "int32": s.TensorType.INT32, "bool": s.TensorType.BOOL}
        if data is not None:
            dims, kind = data.shape, data.dtype.name
        made = s.TensorT()
        made.name = f"t{len(self.tensors)}".encode()
        made.shape, made.type, made.buffer = [int(d) for d in dims], types[kind], 0
        if data is not None:
            made.buffer = len(self.buffers)
            buffer = s.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            self.buffers.append(buffer)
        if scale is not None:
            made.quantization = s.QuantizationParametersT()
            made.quantization.scale = np.atleast_1d(np.float32(scale))
            made.quantization.zeroPoint = np.full(made.quantization.scale.shape, zero, np.int64)
            made.quantization.quantizedDimension = axis
        self.tensors.append(made)
        return len(self.tensors) - 1

    def value(self, dims, scale=.05, zero=3, is_integer=None):
        """An activation; quantized in INT8 models."""
        if self.variant == INT8 if is_integer is None else is_integer:
            return self.tensor(dims, "int8", scale=scale, zero=zero)
        return self.tensor(dims, "float32")

    def input(self, dims, scale=.05, zero=3, is_integer=None):
        self.inputs.append(self.value(dims, scale, zero, is_integer))
        return self.inputs[-1]

    def numbers(self, *values):
        return self.tensor(None, data=np.array(values, np.int32))

    def constant(self, dims, scale=.05, zero=3):
        if self.variant == INT8:
            return self.tensor(None, data=self.random.integers(20, 100, dims).astype(np.int8), scale=scale, zero=zero)
        return self.tensor(None, data=self.random.uniform(.2, 1, dims).astype(np.float32))

    def weight(self, dims, axis, per_tensor=False):
        if self.variant == FP32:
            return self.tensor(None, data=(self.random.standard_normal(dims) * .05).astype(np.float32))
        scales = .001 if per_tensor else np.full(dims[axis], .001)
        return self.tensor(None, data=self.random.integers(-60, 60, dims).astype(np.int8), scale=scales, axis=axis)

    def bias(self, channels, scale=.05):
        if self.variant != INT8:
            return self.tensor(None, data=np.zeros(channels, np.float32))
        return self.tensor(None, data=np.zeros(channels, np.int32), scale=np.full(channels, scale * .001))

    def op(self, name, inputs, outputs, options=None, version=1, **fields):
        s = self.schema
        code = getattr(s.BuiltinOperator, name)
        if (code, version) not in self.codes:
            self.codes.append((code, version))
        made = s.OperatorT()
        made.opcodeIndex = self.codes.index((code, version))
        made.inputs, made.outputs = list(inputs), list(outputs)
        if options:
            made.builtinOptionsType = getattr(s.BuiltinOptions, options)
            made.builtinOptions = getattr(s, options + "T")()
            for field, value in fields.items():
                setattr(made.builtinOptions, field, value)
        self.operators.append(made)

    def bytes(self):
        import flatbuffers
        s = self.schema
        model, graph = s.ModelT(), s.SubGraphT()
        model.version = 3
        model.operatorCodes = []
        for code, version in self.codes:
            row = s.OperatorCodeT()
            row.builtinCode, row.deprecatedBuiltinCode, row.version = code, min(code, 127), version
            model.operatorCodes.append(row)
        graph.tensors, graph.operators, graph.inputs, graph.outputs = self.tensors, self.operators, self.inputs, self.outputs
        model.subgraphs, model.buffers = [graph], self.buffers
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


# --- one op of each kind ----------------------------------------------------------------------------------------------
# Each function adds `copies` of its op to a model. Copies share an input, and have separate weights.

def up(value, block):
    return -(-value // block) * block


def conv(m, c, copies):
    h, w = c["dims"]
    kh, kw = c["kernel"]
    s = c["stride"]
    x = m.input([1, h, w, c["cin"]])
    out = [1, -(-h // s), -(-w // s), c["cout"]]
    version = {FP32: 1, INT8: 3, HYBRID: 5}[m.variant]
    for _ in range(copies):
        y = m.value(out, .08)
        m.op("CONV_2D", [x, m.weight([c["cout"], kh, kw, c["cin"]], 0), m.bias(c["cout"])], [y], "Conv2DOptions", version,
             strideH=s, strideW=s, dilationHFactor=1, dilationWFactor=1, padding=0)
        m.outputs.append(y)


def depthwise(m, c, copies):
    h, w = c["dims"]
    kh, kw = c["kernel"]
    s = c["stride"]
    x = m.input([1, h, w, c["cout"]])
    out = [1, -(-h // s), -(-w // s), c["cout"]]
    version = {FP32: 1, INT8: 3, HYBRID: 6}[m.variant]
    for _ in range(copies):
        y = m.value(out, .08)
        m.op("DEPTHWISE_CONV_2D", [x, m.weight([1, kh, kw, c["cout"]], 3), m.bias(c["cout"])], [y], "DepthwiseConv2DOptions",
             version, strideH=s, strideW=s, dilationHFactor=1, dilationWFactor=1, depthMultiplier=1, padding=0)
        m.outputs.append(y)


def connected(m, c, copies):
    x = m.input([c["m"], c["cin"]])
    version = {FP32: 1, INT8: 4, HYBRID: 3}[m.variant]
    for _ in range(copies):
        y = m.value([c["m"], c["cout"]], .08)
        m.op("FULLY_CONNECTED", [x, m.weight([c["cout"], c["cin"]], 0), m.bias(c["cout"])], [y], "FullyConnectedOptions", version)
        m.outputs.append(y)


def transposed(m, c, copies):
    h, w = c["dims"]
    kh, kw = c["kernel"]
    sh, sw = c["strides"]
    x = m.input([1, h, w, c["cin"]])
    out = [1, h * sh, w * sw, c["cout"]]
    version = 3
    for _ in range(copies):
        y = m.value(out, .08)
        m.op("TRANSPOSE_CONV", [m.numbers(*out), m.weight([c["cout"], kh, kw, c["cin"]], 0), x, m.bias(c["cout"])], [y],
             "TransposeConvOptions", version, strideH=sh, strideW=sw, padding=0)
        m.outputs.append(y)


def matmul(m, c, copies):
    x = m.input([c["batch"], c["m"], c["cin"]])
    other = None if c["constant"] else m.input([c["batch"], c["cin"], c["cout"]], is_integer=m.variant == INT8)
    for _ in range(copies):
        y = m.value([c["batch"], c["m"], c["cout"]], .08)
        right = other
        if c["constant"]:
            right = m.weight([c["batch"], c["cin"], c["cout"]], 2, per_tensor=True)
        m.op("BATCH_MATMUL", [x, right], [y], "BatchMatMulOptions", {FP32: 1, INT8: 2, HYBRID: 4}[m.variant], adjX=False, adjY=False)
        m.outputs.append(y)


def binary(m, c, copies):
    dims = c["dims"]
    x = m.input(dims)
    other = {"same": lambda: m.input(dims), "channels": lambda: m.constant([dims[-1]]), "scalar": lambda: m.constant([1])}[c["other"]]()
    options = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions",
               "SQUARED_DIFFERENCE": "SquaredDifferenceOptions", "MAXIMUM": "MaximumMinimumOptions",
               "MINIMUM": "MaximumMinimumOptions"}[c["op"]]
    version = 2 if m.variant == INT8 else 1
    for _ in range(copies):
        y = m.value(dims, *(() if c["op"] in ("MAXIMUM", "MINIMUM") else (.1, 3)))
        m.op(c["op"], [x, other], [y], options, version)
        m.outputs.append(y)


UNARY = {  # op → options, version in INT8, scale and zero point of its output
    "LOGISTIC": (None, 2, 1 / 256, -128), "TANH": (None, 2, 1 / 128, 0), "RELU": (None, 2, .05, -128), "RELU6": (None, 2, .05, -128),
    "LEAKY_RELU": ("LeakyReluOptions", 2, .05, 3), "HARD_SWISH": ("HardSwishOptions", 1, .05, 3), "ELU": (None, 1, .05, 3),
    "GELU": ("GeluOptions", 2, .05, 3), "ABS": ("AbsOptions", 2, .05, -128), "EXP": ("ExpOptions", 2, .05, 3), "LOG": (None, 2, .05, 3),
    "SQRT": (None, 2, .05, 3), "RSQRT": (None, 2, .05, 3), "SOFTMAX": ("SoftmaxOptions", 2, 1 / 256, -128),
    "L2_NORMALIZATION": ("L2NormOptions", 2, 1 / 128, 0), "LOG_SOFTMAX": ("LogSoftmaxOptions", 2, 16 / 256, 127),
}


def unary(m, c, copies):
    options, version, scale, zero = UNARY[c["op"]]
    positive = c["op"] in ("LOG", "SQRT", "RSQRT")
    x = m.input(c["dims"], *((.05, -128) if positive else ()))
    fields = {"LEAKY_RELU": {"alpha": .1}, "SOFTMAX": {"beta": 1.}}.get(c["op"], {})
    for _ in range(copies):
        y = m.value(c["dims"], scale, zero)
        m.op(c["op"], [x], [y], options, version if m.variant == INT8 else 1, **fields)
        m.outputs.append(y)


def prelu(m, c, copies):
    x = m.input(c["dims"])
    for _ in range(copies):
        y = m.value(c["dims"])
        m.op("PRELU", [x, m.constant([1] * (len(c["dims"]) - 2) + [c["dims"][-1]])], [y])
        m.outputs.append(y)


def to_codes(m, c, copies):
    x = m.input(c["dims"], is_integer=m.variant == INT8)  # INT8: requantizes to another scale
    for _ in range(copies):
        y = m.value(c["dims"], .07, is_integer=True)
        m.op("QUANTIZE", [x], [y], "QuantizeOptions", 2 if m.variant == INT8 else 1)
        m.outputs.append(y)


def to_floats(m, c, copies):
    x = m.input(c["dims"], is_integer=True)
    for _ in range(copies):
        y = m.value(c["dims"], is_integer=False)
        m.op("DEQUANTIZE", [x], [y], "DequantizeOptions", 2)
        m.outputs.append(y)


def pool(m, c, copies):
    n, h, w, ch = c["dims"]
    kh, kw = c["kernel"]
    s = c["stride"]
    x = m.input(c["dims"])
    padding = 1 if c["kernel"] == [h, w] else 0  # a pool over the whole image: VALID
    out = [n, 1, 1, ch] if padding else [n, -(-h // s), -(-w // s), ch]
    for _ in range(copies):
        y = m.value(out)
        m.op(c["op"], [x], [y], "Pool2DOptions", 2 if m.variant == INT8 else 1, strideH=s, strideW=s, filterHeight=kh, filterWidth=kw,
             padding=padding)
        m.outputs.append(y)


def reduced(m, c, copies):
    x = m.input(c["dims"])
    dims = [d for i, d in enumerate(c["dims"]) if i not in c["axes"]]
    for _ in range(copies):
        y = m.value(dims, *(() if c["op"] == "REDUCE_MAX" else (.03, 3)))
        m.op(c["op"], [x, m.numbers(*c["axes"])], [y], "ReducerOptions", 2 if m.variant == INT8 else 1, keepDims=False)
        m.outputs.append(y)


def joined(m, c, copies):
    parts = [m.input(c["dims"]) for _ in range(c["parts"])]
    out = [*c["dims"][:-1], c["dims"][-1] * c["parts"]]
    for _ in range(copies):
        y = m.value(out)
        m.op("CONCATENATION", parts, [y], "ConcatenationOptions", 2 if m.variant == INT8 else 1, axis=len(out) - 1)
        m.outputs.append(y)


def packed(m, c, copies):
    parts = [m.input(c["dims"]) for _ in range(c["parts"])]
    for _ in range(copies):
        y = m.value([c["parts"], *c["dims"]])
        m.op("PACK", parts, [y], "PackOptions", 2 if m.variant == INT8 else 1, valuesCount=c["parts"], axis=0)
        m.outputs.append(y)


def unpacked(m, c, copies):
    x = m.input([c["parts"], *c["dims"]])
    for _ in range(copies):
        ys = [m.value(c["dims"]) for _ in range(c["parts"])]
        m.op("UNPACK", [x], ys, "UnpackOptions", 2 if m.variant == INT8 else 1, num=c["parts"], axis=0)
        m.outputs += ys


def divided(m, c, copies):
    x = m.input([*c["dims"][:-1], c["dims"][-1] * c["parts"]])
    for _ in range(copies):
        ys = [m.value(c["dims"]) for _ in range(c["parts"])]
        axis = m.tensor(None, data=np.array(len(c["dims"]) - 1, np.int32))
        m.op("SPLIT", [axis, x], ys, "SplitOptions", 2 if m.variant == INT8 else 1, numSplits=c["parts"])
        m.outputs += ys


# Ops that move values: op → (dims → dims of the output), (dims → constant inputs), options, their fields.
MOVES = {
    "PAD": (lambda d: [d[0], d[1] + 2, d[2] + 2, d[3]], lambda m, d: [pads(m, d)], "PadOptions", {}),
    "PADV2": (lambda d: [d[0], d[1] + 2, d[2] + 2, d[3]], lambda m, d: [pads(m, d), m.constant([1])], "PadV2Options", {}),
    "MIRROR_PAD": (lambda d: [d[0], d[1] + 2, d[2] + 2, d[3]], lambda m, d: [pads(m, d)], "MirrorPadOptions", {"mode": 0}),
    "RESHAPE": (lambda d: [d[0], d[1] * d[2], d[3]], lambda m, d: [m.numbers(d[0], d[1] * d[2], d[3])], "ReshapeOptions",
                lambda d: {"newShape": [d[0], d[1] * d[2], d[3]]}),
    "EXPAND_DIMS": (lambda d: [1, *d], lambda m, d: [m.tensor(None, data=np.array(0, np.int32))], "ExpandDimsOptions", {}),
    "SQUEEZE": (lambda d: d[1:], lambda m, d: [], "SqueezeOptions", {"squeezeDims": [0]}),
    "RESIZE_BILINEAR": (lambda d: [d[0], 2 * d[1], 2 * d[2], d[3]], lambda m, d: [m.numbers(2 * d[1], 2 * d[2])],
                        "ResizeBilinearOptions", {"halfPixelCenters": True}),
    "RESIZE_NEAREST_NEIGHBOR": (lambda d: [d[0], 2 * d[1], 2 * d[2], d[3]], lambda m, d: [m.numbers(2 * d[1], 2 * d[2])],
                                "ResizeNearestNeighborOptions", {}),
    "SLICE": (lambda d: [d[0], d[1] - 1, d[2] - 1, d[3]],
              lambda m, d: [m.numbers(0, 1, 1, 0), m.numbers(d[0], d[1] - 1, d[2] - 1, d[3])], "SliceOptions", {}),
    "STRIDED_SLICE": (lambda d: [d[0], d[1] - 1, d[2] - 1, d[3]],
                      lambda m, d: [m.numbers(0, 1, 1, 0), m.numbers(*d), m.numbers(1, 1, 1, 1)], "StridedSliceOptions", {}),
    "DEPTH_TO_SPACE": (lambda d: [d[0], 2 * d[1], 2 * d[2], d[3] // 4], lambda m, d: [], "DepthToSpaceOptions", {"blockSize": 2}),
    "SPACE_TO_DEPTH": (lambda d: [d[0], d[1] // 2, d[2] // 2, 4 * d[3]], lambda m, d: [], "SpaceToDepthOptions", {"blockSize": 2}),
    "SPACE_TO_BATCH_ND": (lambda d: [4 * d[0], d[1] // 2, d[2] // 2, d[3]],
                          lambda m, d: [m.numbers(2, 2), m.tensor(None, data=np.zeros((2, 2), np.int32))], "SpaceToBatchNDOptions", {}),
    "BATCH_TO_SPACE_ND": (lambda d: [d[0] // 4, 2 * d[1], 2 * d[2], d[3]],
                          lambda m, d: [m.numbers(2, 2), m.tensor(None, data=np.zeros((2, 2), np.int32))], "BatchToSpaceNDOptions", {}),
    "TILE": (lambda d: [d[0], 2 * d[1], d[2], d[3]], lambda m, d: [m.numbers(1, 2, 1, 1)], "TileOptions", {}),
    "REVERSE_V2": (lambda d: d, lambda m, d: [m.numbers(1)], "ReverseV2Options", {}),
    "BROADCAST_TO": (lambda d: [d[0], 4, d[2], d[3]], lambda m, d: [m.numbers(d[0], 4, d[2], d[3])], "BroadcastToOptions", {}),
    "GATHER": (lambda d: d, lambda m, d: [m.tensor(None, data=np.arange(d[1])[::-1].astype(np.int32))], "GatherOptions", {"axis": 1}),
    "GATHER_ND": (lambda d: [d[1], d[2], d[3]],
                  lambda m, d: [m.tensor(None, data=np.stack([np.zeros(d[1]), np.arange(d[1])[::-1]], 1).astype(np.int32))],
                  "GatherNdOptions", {}),
}
VERSIONS = {"RESIZE_BILINEAR": {INT8: 3, FP32: 3}, "RESIZE_NEAREST_NEIGHBOR": {INT8: 3, FP32: 3}, "BROADCAST_TO": {INT8: 3, FP32: 2},
            "SQUEEZE": {INT8: 2, FP32: 1}, "REVERSE_V2": {INT8: 3, FP32: 1}, "GATHER_ND": {INT8: 2, FP32: 1},
            "EXPAND_DIMS": {INT8: 1, FP32: 1}, "MIRROR_PAD": {INT8: 2, FP32: 1}, "TILE": {INT8: 3, FP32: 1},
            "RESHAPE": {INT8: 1, FP32: 1}}


def pads(m, dims):
    return m.tensor(None, data=np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32))


def moved(m, c, copies):
    shape, constants, options, fields = MOVES[c["op"]]
    dims = c["dims"]
    x = m.input(dims)
    for _ in range(copies):
        y = m.value(shape(dims))
        version = VERSIONS.get(c["op"], {INT8: 2, FP32: 1})[m.variant]
        m.op(c["op"], [x, *constants(m, dims)], [y], options, version, **(fields(dims) if callable(fields) else fields))
        m.outputs.append(y)


def transpose(m, c, copies):
    x = m.input(c["dims"])
    for _ in range(copies):
        y = m.value([c["dims"][p] for p in c["perm"]])
        m.op("TRANSPOSE", [x, m.numbers(*c["perm"])], [y], "TransposeOptions", 2 if m.variant == INT8 else 1)
        m.outputs.append(y)


def lookup(m, c, copies):
    m.inputs.append(m.tensor([c["dims"][0]], "int32"))
    for _ in range(copies):
        y = m.value(c["dims"], .001, 0, is_integer=False)  # a lookup in an INT8 table gives floats
        table = m.weight([512, c["dims"][1]], 0) if m.variant != FP32 else m.constant([512, c["dims"][1]])
        m.op("EMBEDDING_LOOKUP", [m.inputs[0], table], [y], None, 4 if m.variant != FP32 else 1)
        m.outputs.append(y)


BUILDERS = {"CONV_2D": conv, "DEPTHWISE_CONV_2D": depthwise, "FULLY_CONNECTED": connected, "TRANSPOSE_CONV": transposed,
            "BATCH_MATMUL": matmul, "PRELU": prelu, "QUANTIZE": to_codes, "DEQUANTIZE": to_floats, "AVERAGE_POOL_2D": pool,
            "MAX_POOL_2D": pool, "MEAN": reduced, "SUM": reduced, "REDUCE_MAX": reduced, "CONCATENATION": joined, "PACK": packed,
            "UNPACK": unpacked, "SPLIT": divided, "TRANSPOSE": transpose, "EMBEDDING_LOOKUP": lookup,
            **dict.fromkeys(UNARY, unary), **dict.fromkeys(MOVES, moved),
            **dict.fromkeys(("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MAXIMUM", "MINIMUM"), binary)}
WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL")
VARIANTS = {**dict.fromkeys(WEIGHTED, (FP32, INT8, HYBRID)), "DEQUANTIZE": (INT8,), "EMBEDDING_LOOKUP": (FP32, HYBRID)}
CHANNELS = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512]
SIDES = [1, 2, 4, 7, 8, 10, 14, 16, 20, 28, 32, 40, 56, 64, 80, 112, 128, 160]


def conv_case(rng, op):
    is_depthwise = op == "DEPTHWISE_CONV_2D"
    cin, cout = rng.choice(CHANNELS), rng.choice(CHANNELS)
    side = rng.choice(SIDES)
    is_line = rng.random() < .25
    dims = [side * side if side < 56 else side * 16, 1] if is_line else [side, side]
    k = rng.choice([3, 3, 5, 7] if is_depthwise else [1, 1, 3, 3, 5, 7, 9])
    kernel = [k, 1] if is_line else [k, k]
    case = {"op": op, "cin": 1 if is_depthwise else cin, "cout": cout, "kernel": kernel, "stride": rng.choice([1, 1, 1, 2]), "dims": dims}
    if op == "TRANSPOSE_CONV":
        del case["stride"]
        s = rng.choice([2, 2, 4, 8] if is_line else [2])
        case |= {"strides": [s, 1] if is_line else [s, s], "kernel": [2 * s, 1] if is_line else [rng.choice([2, 3, 4])] * 2}
    return case


def is_fitting(case):
    w = work(case)
    return 2e4 < w["products"] < 4e7 and w["values_in"] < 6e5 and w["values_out"] < 6e5 and w["weights"] < 2e6


def cases():
    rng = random.Random(1)
    found = []
    for op, count in (("CONV_2D", 84), ("DEPTHWISE_CONV_2D", 30), ("TRANSPOSE_CONV", 14)):
        while count:
            case = conv_case(rng, op)
            if is_fitting(case):
                found.append(case)
                count -= 1
    for _ in range(30):
        found.append({"op": "FULLY_CONNECTED", "m": rng.choice([1, 1, 1, 4, 16, 64, 128]), "cin": rng.choice([16, 32, 60, 64, 96, 128, 256, 512, 1024]),
                      "cout": rng.choice([1, 2, 4, 10, 16, 32, 64, 128, 256, 512, 1024])})
    for i in range(24):
        found.append({"op": "BATCH_MATMUL", "constant": i % 2 == 0, "batch": 1 if i % 2 == 0 else rng.choice([1, 4, 8]),
                      "m": rng.choice([1, 16, 64, 128]), "cin": rng.choice([16, 32, 64, 128, 256]), "cout": rng.choice([16, 32, 64, 128, 256, 512])})
    shapes = [[1, 1, 1, 64], [1, 8, 8, 32], [1, 10, 10, 24], [1, 20, 20, 64], [1, 40, 40, 48], [1, 56, 56, 64]]
    for op in ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MAXIMUM", "MINIMUM"):
        found += [{"op": op, "dims": dims, "other": other} for dims in shapes[:: 1 if op in ("ADD", "MUL") else 2] for other in ("same", "channels", "scalar")]
    for op in (*UNARY, "PRELU", "QUANTIZE", "DEQUANTIZE"):
        found += [{"op": op, "dims": dims} for dims in shapes]
    for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        for dims in shapes[1:]:
            found += [{"op": op, "dims": dims, "kernel": kernel, "stride": stride} for kernel, stride in
                      (([2, 2], 2), ([3, 3], 1), (dims[1:3], 1)) if op == "AVERAGE_POOL_2D" or kernel != dims[1:3]]
    for op in ("MEAN", "SUM", "REDUCE_MAX"):
        found += [{"op": op, "dims": dims, "axes": axes} for dims in shapes[1:] for axes in ([1, 2], [3])]
    found += [{"op": "CONCATENATION", "dims": dims, "parts": parts} for dims in shapes for parts in (2, 4)]
    found += [{"op": op, "dims": dims, "parts": 2} for dims in shapes for op in ("PACK", "UNPACK", "SPLIT")]
    for op in MOVES:
        for dims in shapes[1:]:
            if op == "BATCH_TO_SPACE_ND":
                dims = [4, dims[1] // 2, dims[2] // 2, dims[3]]
            if op == "BROADCAST_TO":
                dims = [1, 1, *dims[2:]]
            if op in ("SPACE_TO_DEPTH", "SPACE_TO_BATCH_ND"):
                dims = [1, up(dims[1], 2), up(dims[2], 2), dims[3]]
            found.append({"op": op, "dims": dims})
    found += [{"op": "TRANSPOSE", "dims": dims, "perm": perm} for dims in shapes[1:] for perm in ([0, 3, 1, 2], [0, 2, 1, 3])]
    found += [{"op": "EMBEDDING_LOOKUP", "dims": dims} for dims in ([8, 64], [64, 64], [64, 256], [256, 128], [128, 384])]
    return found


def work(case):
    """The amounts of work of a case, as in Work of kernel_costs.h."""
    op, dims = case["op"], case.get("dims")
    if op in ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"):
        kernel, pixels = math.prod(case["kernel"]), math.prod(dims)
        channels_in = case["cout"] if op == "DEPTHWISE_CONV_2D" else case["cin"]
        if op == "TRANSPOSE_CONV":  # each input is multiplied with the whole kernel
            positions = pixels * math.prod(case["strides"])
            kernel = kernel / math.prod(case["strides"])
        else:
            positions = math.prod(-(-d // case["stride"]) for d in dims)
        return {"positions": positions, "inputs": case["cin"], "outputs": case["cout"], "kernel_size": kernel,
                "products": positions * case["cin"] * case["cout"] * kernel, "values_in": pixels * channels_in,
                "values_out": positions * case["cout"], "weights": case["cin"] * case["cout"] * math.prod(case["kernel"])}
    if op in ("FULLY_CONNECTED", "BATCH_MATMUL"):
        positions = case["m"] * case.get("batch", 1)
        return {"positions": positions, "inputs": case["cin"], "outputs": case["cout"], "kernel_size": 1,
                "products": positions * case["cin"] * case["cout"], "values_in": positions * case["cin"],
                "values_out": positions * case["cout"], "weights": case.get("batch", 1) * case["cin"] * case["cout"]}
    given = taken = math.prod(dims)
    if op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        given = dims[3] if case["kernel"] == dims[1:3] else math.prod(-(-d // case["stride"]) for d in dims[1:3]) * dims[3]
    elif op in ("MEAN", "SUM", "REDUCE_MAX"):
        given = taken // math.prod(dims[a] for a in case["axes"])
    elif op in ("CONCATENATION", "PACK"):
        given = taken = taken * case["parts"]
    elif op in ("UNPACK", "SPLIT"):
        given = taken = taken * case["parts"]
    elif op in MOVES:
        given = math.prod(MOVES[op][0](dims))
    return {"values_in": taken, "values_out": given, "kernel_size": math.prod(case.get("kernel", [1]))}


# --- measuring --------------------------------------------------------------------------------------------------------

class Subject:
    """A model with its inputs set, which runs in slots."""

    def __init__(self, model, copies):
        from ai_edge_litert.interpreter import Interpreter
        self.copies = copies
        self.interpreter = Interpreter(model_content=model, num_threads=1)
        self.interpreter.allocate_tensors()
        self.is_delegated = any(op["op_name"] == "DELEGATE" for op in self.interpreter._get_ops_details())
        rng = np.random.default_rng(2)
        for value in self.interpreter.get_input_details():
            data = {np.float32: lambda shape: rng.uniform(.1, 1, shape), np.int8: lambda shape: rng.integers(10, 100, shape),
                    np.int32: lambda shape: rng.integers(0, 500, shape)}[value["dtype"]](value["shape"])
            self.interpreter.set_tensor(value["index"], data.astype(value["dtype"]))
        self.invoke = self.interpreter._interpreter.Invoke
        self.invoke()
        self.runs, self.best = 1, math.inf

    def slot(self, seconds):
        while True:
            begin = time.thread_time_ns()
            for _ in range(self.runs):
                self.invoke()
            spent = time.thread_time_ns() - begin
            if spent >= seconds * 1e9:
                self.best = min(self.best, spent / self.runs)
                return
            self.runs = max(self.runs + 1, math.ceil(self.runs * 1.2 * seconds * 1e9 / max(spent, 1000)))


def copies_of(case):
    """Enough copies that the overhead of a call is negligible, but few enough that their outputs fit into the cache."""
    w = work(case)
    size = 4 * (w["values_out"] + w.get("weights", 0))
    return max(1, min(8, int(3e5 // max(size, 1))))


def build(case, variant, copies):
    model = Model(variant)
    BUILDERS[case["op"]](model, case, copies)
    return model.bytes()


def alternating(variant, pairs, with_break):
    """ADDs, each followed by another ADD or by an op that XNNPACK does not support."""
    m = Model(variant)
    x = m.input([1, 4, 4, 8])
    for _ in range(pairs):
        for is_break in (False, True):
            y = m.value([1, 4, 4, 8], .05)
            if is_break and with_break:
                m.op("REVERSE_V2", [x, m.numbers(1)], [y], "ReverseV2Options", VERSIONS["REVERSE_V2"][variant])
            else:
                m.op("ADD", [x, x], [y], "AddOptions", 2 if variant == INT8 else 1)
            x = y
    m.outputs = [x]
    return m.bytes()


def reversals(variant, count):
    m = Model(variant)
    x = m.input([1, 4, 4, 8])
    for _ in range(count):
        y = m.value([1, 4, 4, 8])
        m.op("REVERSE_V2", [x, m.numbers(1)], [y], "ReverseV2Options", VERSIONS["REVERSE_V2"][variant])
        x = y
    m.outputs = [x]
    return m.bytes()


REFERENCE = {"op": "CONV_2D", "cin": 64, "cout": 64, "kernel": [1, 1], "stride": 1, "dims": [40, 40]}


def take_turns(subjects, options):
    for _ in range(options.rounds):
        for subject in subjects.values():
            subject.slot(options.slot)


def measure(options):
    done = set()
    try:
        done = {json.dumps(json.loads(line)["case"], sort_keys=True) for line in open(options.measure)}
    except FileNotFoundError:
        pass
    wanted = options.only.split(",") if options.only else None
    reference = Subject(build(REFERENCE, FP32, 1), 1)
    with open(options.measure, "a") as out:
        def write(row):
            out.write(json.dumps(row) + "\n")
            out.flush()
        overhead = {"op": "overhead"}
        if json.dumps(overhead, sort_keys=True) not in done and (wanted is None or "overhead" in wanted):
            row = {"case": overhead}
            for variant in (FP32, INT8):
                subjects = {"reference": reference, "adds": Subject(alternating(variant, 8, False), 16),
                            "alternating": Subject(alternating(variant, 8, True), 8),
                            "add": Subject(alternating(variant, 1, False), 2),
                            "reversals": Subject(reversals(variant, 16), 16), "reversal": Subject(reversals(variant, 1), 1)}
                reference.best = math.inf
                take_turns(subjects, options)
                t = {name: s.best for name, s in subjects.items()}
                add, reversal = (t["adds"] - t["add"]) / 14, (t["reversals"] - t["reversal"]) / 15
                row[variant] = {"reference": t["reference"], "call": t["add"] - 2 * add, "built-in call": t["reversal"] - reversal,
                                "partition": (t["alternating"] - 8 * add - 8 * reversal - (t["add"] - 2 * add)) / 7}
            write(row)
            print(row, flush=True)
        for case in cases():
            if json.dumps(case, sort_keys=True) in done or wanted and case["op"] not in wanted:
                continue
            row = {"case": case}
            copies = copies_of(case)
            subjects = {}
            for variant in VARIANTS.get(case["op"], (FP32, INT8)):
                try:
                    subjects[variant] = Subject(build(case, variant, copies), copies)
                except (RuntimeError, ValueError) as error:
                    row[variant + " refused"] = str(error).splitlines()[0][:160]
            reference.best = math.inf
            take_turns(subjects | {"reference": reference}, options)
            row |= {variant: {"ns": s.best, "copies": copies, "delegated": s.is_delegated} for variant, s in subjects.items()}
            row["reference"] = reference.best
            write(row)


# --- fitting ----------------------------------------------------------------------------------------------------------

# The channels that a kernel processes at a time: inputs, outputs.
BLOCKS = {FP32: (1, 16), INT8: (8, 16), HYBRID: (8, 16)}
TAPS = (3, 4, 9, 25)  # of depthwise kernels; larger ones run as a convolution per channel
ROW_BY_ROW = ("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION")
TERMS = ("call", "product", "output", "tap", "input", "weight")


def kernel_of(case):
    """The row of the table."""
    if case["op"] == "CONV_2D":
        return "CONV_2D 1x1" if math.prod(case["kernel"]) == 1 and case["stride"] == 1 else "CONV_2D"
    if case["op"] == "DEPTHWISE_CONV_2D":
        return case["op"] + (" wide" if math.prod(case["kernel"]) > TAPS[-1] else "")
    if case["op"] == "BATCH_MATMUL":
        return "BATCH_MATMUL" if case["constant"] else "BATCH_MATMUL computed"
    if case["op"] == "TRANSPOSE":
        return "TRANSPOSE" if case["perm"][-1] != 3 else "TRANSPOSE rows"
    if case["op"] in ("MEAN", "SUM", "REDUCE_MAX"):
        return case["op"] + (" rows" if case["axes"] == [3] else "")
    return case["op"]


def amounts(case, variant):
    """The amount of each of TERMS."""
    w = work(case)
    if case["op"] not in WEIGHTED:  # by the larger of input and output; pools also by each element of their window
        if case["op"] in ROW_BY_ROW:
            return [1, 0, w["values_out"], w["values_out"] / case["dims"][-1], 0, 0]
        is_pool = case["op"] in ("AVERAGE_POOL_2D", "MAX_POOL_2D")
        return [1, 0, w["values_out"] if is_pool else max(w["values_in"], w["values_out"]),
                w["values_out"] * w["kernel_size"] if is_pool else 0, 0, 0]
    block_in, block_out = BLOCKS[variant]
    if case["op"] == "DEPTHWISE_CONV_2D":
        block_in = 1
    outputs, kernel_size = up(w["outputs"], block_out), w["kernel_size"]
    if kernel_of(case) == "DEPTHWISE_CONV_2D":
        kernel_size = next(taps for taps in TAPS if taps >= kernel_size)
    if kernel_of(case) == "DEPTHWISE_CONV_2D wide":
        outputs = w["outputs"]
    return [1, w["positions"] * kernel_size * up(w["inputs"], block_in) * outputs, w["positions"] * outputs,
            w["positions"] * kernel_size, w["values_in"], w["weights"]]


def least_squares(rows):
    """Non-negative coefficients with the least squared relative error: the best solution over all subsets of terms."""
    a = np.array([[x / ns for x in terms] for terms, ns in rows])
    scale = np.sqrt((a * a).sum(axis=0))
    used = np.flatnonzero(scale)
    a = a[:, used] / scale[used]
    gram, target = a.T @ a, a.sum(axis=0)
    best, least = None, math.inf
    for subset in range(1, 1 << len(used)):
        chosen = [i for i in range(len(used)) if subset >> i & 1]
        try:
            x = np.linalg.solve(gram[np.ix_(chosen, chosen)], target[chosen])
        except np.linalg.LinAlgError:
            continue
        if (x < 0).any():
            continue
        error = -x @ target[chosen]  # up to a constant
        if error < least:
            best, least = (chosen, x), error
    found = np.zeros(len(scale))
    found[used[best[0]]] = best[1] / scale[used[best[0]]]
    return found


def off(terms, ns, x):
    """The factor between two times, at least 1."""
    estimate = max(float(np.dot(terms, x)), 1e-9)
    return max(estimate / ns, ns / estimate)


def fit(options):
    """{(kernel, variant): (constants, is in XNNPACK, cases, errors)}, and the overhead."""
    lines = [json.loads(line) for line in open(options.fit)]
    overhead = next(line for line in lines if line["case"]["op"] == "overhead")
    lines = [line for line in lines if "reference" in line]
    typical = statistics.median(line["reference"] for line in lines)
    measured = collections.defaultdict(list)
    for line in lines:
        for variant in (FP32, INT8, HYBRID):
            if found := line.get(variant):
                ns = (found["ns"] * typical / line["reference"] - overhead[FP32]["call"]) / found["copies"]
                if variant == HYBRID and kernel_of(line["case"]) == "BATCH_MATMUL computed":
                    continue  # has no hybrid kernel
                measured[kernel_of(line["case"]), variant].append((line["case"], found["delegated"], max(ns, 1)))
    table = {}
    for (kernel, variant), cases_of in sorted(measured.items()):
        if len(cases_of) < 4:
            print(f"{kernel} {variant}: {len(cases_of)} cases are too few", file=sys.stderr)
            continue
        rows = [(amounts(case, variant), ns) for case, _, ns in cases_of]
        errors = sorted(off(*rows[i], least_squares(rows[:i] + rows[i + 1:])) for i in range(len(rows)))
        kinds = {delegated for _, delegated, _ in cases_of}
        if len(kinds) > 1:
            print(f"{kernel} {variant}: XNNPACK takes some of the cases", file=sys.stderr)
        table[kernel, variant] = least_squares(rows), kinds == {True}, len(rows), errors
    return table, overhead


def middle_and_decile(errors):
    errors = sorted(errors)
    return errors[len(errors) // 2], errors[len(errors) * 9 // 10]


def show(table, overhead):
    print(f"a call {overhead[FP32]['call']:.0f} ns, of a built-in op {overhead[FP32]['built-in call']:.0f} ns, another part for XNNPACK "
          f"{overhead[FP32]['partition']:.0f} ns")
    print(f"{'kernel':24} {'kind':7} {'by':8} {'cases':>5} {'off: half':>9} {'9 of 10':>8}  " + " ".join(f"{t:>9}" for t in TERMS))
    for (kernel, variant), (x, in_xnnpack, count, errors) in table.items():
        half, most = middle_and_decile(errors)
        print(f"{kernel:24} {variant:7} {'XNNPACK' if in_xnnpack else 'built-in':8} {count:5} {half:9.2f} {most:8.2f}  " +
              " ".join(f"{v:9.4g}" for v in x))
    print(off_by(table))


def off_by(table):
    def words(kernels):
        half, most = middle_and_decile([e for (kernel, _), row in table.items() if kernels(kernel) for e in row[3]])
        return f"half of the estimates are within a factor of {half:.2f}, nine of ten within {most:.2f}"
    return (f"leave-one-out, ops with weights: {words(lambda k: k.startswith(WEIGHTED))}.\n"
            f"Other ops: {words(lambda k: not k.startswith(WEIGHTED))}.")


def camel(name):
    known = {"2D": "2D", "V2": "V2", "PADV2": "Padv2", "L2": "L2", "ND": "Nd"}
    return "k" + "".join(known.get(part, part.capitalize()) for part in name.split("_"))


FORMS = {"1x1": "kPointwise", "wide": "kWide", "computed": "kComputed", "rows": "kRows"}


def rows(table, overhead):
    """Prints the rows as C++."""
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "an unknown CPU")
    flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "")
    cpu += " with AVX512-VNNI" if "avx512_vnni" in flags else ""
    print(f"// Written by bench/litert_costs.py on {time.strftime('%Y-%m-%d')}: nanoseconds on one thread of {cpu}, LiteRT "
          f"{importlib.metadata.version('ai-edge-litert')}.")
    for line in off_by(table).splitlines():
        print(f"// {line[0].upper() + line[1:]}")
    print("\n// clang-format off")
    print(f"constexpr double kBuiltInCall = {overhead[FP32]['built-in call']:.0f}, kPartition = {overhead[FP32]['partition']:.0f};")
    print("constexpr auto kKernelRows = std::to_array<KernelRow>({")
    for kernel in dict.fromkeys(kernel for kernel, _ in table):
        op, _, form = kernel.partition(" ")
        parts = [f".code = Builtin::{camel(op)}"] + ([f".form = KernelForm::{FORMS[form]}"] if form else [])
        for variant in (FP32, INT8, HYBRID):
            if (kernel, variant) in table:
                x, in_xnnpack, _, _ = table[kernel, variant]
                terms = [".in_xnnpack = true"] if in_xnnpack else []
                terms += [f".{term} = {v:.4g}" for term, v in zip(TERMS, x) if v > 1e-6]
                parts.append(f".{variant} = {{{', '.join(terms)}}}")
        print(f"    {{{', '.join(parts)}}},")
    print("});")
    print("// clang-format on")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure")
    parser.add_argument("--fit")
    parser.add_argument("--only", default="")
    parser.add_argument("--slot", type=float, default=.02, help="seconds of CPU time")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args()
    if options.measure:
        measure(options)
    if options.fit:
        (rows if options.rows else show)(*fit(options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
