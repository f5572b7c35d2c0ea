"""Patterns of quantized nodes that ONNX Runtime may fuse, as probes whose optimized model is examined.

A pattern is DequantizeLinear -> operator -> QuantizeLinear, as quantizers write it, or one of the dynamic and
weight-only forms. Its key: the operator, the types of activation (x) and weight (w), the form, and whether the
model itself takes floating point numbers (a QuantizeLinear and a DequantizeLinear more) or integers.
"""
import numpy as np
from onnx import helper, numpy_helper

import element_types
from probe import IR_VERSION, Key, Probe, random_array, seeded, tensor_info

UNARY = {   # attributes, shape of the input
    "Softmax": ({"axis": -1}, (2, 8)), "Sigmoid": ({}, (2, 8)), "LeakyRelu": ({"alpha": 0.25}, (2, 8)),
    "Relu": ({}, (2, 8)), "Tanh": ({}, (2, 8)), "HardSigmoid": ({}, (2, 8)), "HardSwish": ({}, (2, 8)),
    "Erf": ({}, (2, 8)), "Exp": ({}, (2, 8)), "Sqrt": ({}, (2, 8)), "Elu": ({}, (2, 8)),
    "AveragePool": ({"kernel_shape": [2, 2]}, (1, 4, 6, 6)), "GlobalAveragePool": ({}, (1, 4, 6, 6)),
    "MaxPool": ({"kernel_shape": [2, 2]}, (1, 4, 6, 6)), "ReduceMean": ({"axes": [1]}, (2, 8)),
    "Transpose": ({"perm": [1, 0]}, (2, 8)), "Flatten": ({}, (2, 2, 4)),
    "DepthToSpace": ({"blocksize": 2}, (1, 4, 2, 2)),
    "ArgMax": ({}, (2, 8)), "Identity": ({}, (2, 8)),
}
WITH_CONSTANT = {   # further inputs that are not quantized
    "Reshape": ((2, 8), [np.array([4, 4])], {}), "Squeeze": ((1, 8), [np.array([0])], {}),
    "Unsqueeze": ((2, 8), [np.array([0])], {}), "Gather": ((4, 4), [np.array([0, 2])], {}),
    "Slice": ((4, 4), [np.array([0]), np.array([2])], {}), "Clip": ((2, 8), [np.float32(0), np.float32(1)], {}),
    "Pad": ((2, 8), [np.array([0, 1, 0, 1])], {}), "Tile": ((2, 2), [np.array([1, 2])], {}),
    "Expand": ((1, 8), [np.array([2, 8])], {}),
    "Resize": ((1, 2, 3, 3), [None, np.array([1, 1, 2, 2], np.float32)], {"mode": "nearest"}),
    "InstanceNormalization": ((1, 2, 4), [np.ones(2, np.float32), np.ones(2, np.float32)], {}),
    "BatchNormalization": ((2, 3), [np.ones(3, np.float32)] * 4, {}),
    "LayerNormalization": ((2, 8), [np.ones(8, np.float32)], {}),
}
BINARY = ("Add", "Mul", "Sub", "Div", "Min", "Max", "Concat", "Where")
ACTIVATIONS = ("uint8", "int8", "uint16", "int16")
NEEDS_OPSET = {"uint16": 21, "int16": 21, "int4": 21, "uint4": 21}


class Graph:
    """A model in the making whose inputs and weights are quantized."""

    def __init__(self, op, form, types, opset, io):
        self.key = Key("fusion", op, opset, tuple(types), (("form", form), ("io", io)))
        self.io = io
        self.rng = seeded(self.key, 0)
        self.nodes, self.inputs, self.initializers, self.output = [], {}, [], None
        self.opset = opset
        self.count = 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def node(self, op, inputs, outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        name = self.name()
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def input(self, type_, shape):
        name = self.name()
        self.inputs[name] = random_array(self.rng, type_, shape, None, 100 if "int" in type_ else None)
        return name

    def weight(self, type_, shape):
        return self.constant(random_array(self.rng, type_, shape, None, 7 if "4" in type_ else 60))

    def dequantize(self, value, type_, scale=0.5, zero=None, **attributes):
        zero = zero if zero is not None else 8 if type_.startswith("u") else 0
        point = np.full(np.shape(scale), zero).astype(element_types.numpy_type(type_))
        scales = self.constant(np.asarray(scale, np.float32))
        return self.node("DequantizeLinear", [value, scales, self.constant(point)], **attributes)

    def quantize(self, value, type_, scale=0.5, zero=None):
        zero = zero if zero is not None else 8 if type_.startswith("u") else 0
        point = np.asarray(zero).astype(element_types.numpy_type(type_))
        return self.node("QuantizeLinear", [value, self.constant(np.float32(scale)), self.constant(point)])

    def activation(self, type_, shape, scale=0.5):
        if self.io == "float":
            return self.dequantize(self.quantize(self.input("float", shape), type_, scale), type_, scale)
        return self.dequantize(self.input(type_, shape), type_, scale)

    def quantized(self, value, type_, scale=0.5, zero=None):
        """The model whose output this is, quantized."""
        codes = self.quantize(value, type_, scale, zero)
        if self.io == "float":
            return self.probe(self.dequantize(codes, type_, scale, zero), "float")
        return self.probe(codes, type_)

    def probe(self, output, type_):
        graph = helper.make_graph(
            self.nodes, "fusion", [tensor_info(n, element_types.of_array(a), a.shape) for n, a in self.inputs.items()],
            [tensor_info(output, type_, None)], self.initializers)
        model = helper.make_model(graph, ir_version=IR_VERSION, producer_name="probe",
                                  opset_imports=[helper.make_opsetid("", self.opset)])
        return Probe(self.key, model, self.inputs, checked=False)


def opset_for(*types):
    return max([13] + [NEEDS_OPSET.get(t, 0) for t in types])


def activations():
    for io in ("float", "int"):
        for x in ACTIVATIONS if io == "float" else ACTIVATIONS[:2]:
            yield x, io


def unary_patterns():
    for x, io in activations():
        for op, (attributes, shape) in UNARY.items():
            g = Graph(op, "DQ-op-Q", [("x", x)], max(opset_for(x), 14 if op == "HardSwish" else 0), io)
            if op == "ReduceMean" and g.opset >= 18:
                y = g.node(op, [g.activation(x, shape), g.constant(np.array([1]))])
            else:
                y = g.node(op, [g.activation(x, shape)], **attributes)
            yield g.probe(y, "int64") if op == "ArgMax" else g.quantized(y, x)
        for op, (shape, extra, attributes) in WITH_CONSTANT.items():
            g = Graph(op, "DQ-op-Q", [("x", x)], max(opset_for(x), 17 if op == "LayerNormalization" else 0), io)
            rest = ["" if e is None else g.constant(e) for e in extra]
            y = g.node(op, [g.activation(x, shape)] + rest, **attributes)
            yield g.quantized(y, x)


def binary_patterns():
    for x, io in activations():
        for op in BINARY:
            g = Graph(op, "DQ-op-Q", [("x", x)], opset_for(x), io)
            first = [g.input("bool", (2, 8))] if op == "Where" else []
            parts = [g.activation(x, (2, 8)), g.activation(x, (2, 8), 0.25)]
            y = g.node(op, first + parts, **({"axis": 1} if op == "Concat" else {}))
            yield g.quantized(y, x, 2.0)


def weight_scales(per, count, small=0.0625):
    return small if per == "tensor" else np.linspace(small, 2 * small, count).astype(np.float32)


def convolution_patterns():
    shapes = {"Conv": (4, 4, 3, 3), "ConvTranspose": (4, 4, 3, 3)}
    for op in shapes:
        for x, io in activations():
            for w in ("int8", "uint8", "int4"):
                for per in ("tensor", "channel"):
                    for form in ("DQ-op-Q", "DQ-op-Relu-Q0", "DQ-op-Relu-Q", "DQ-op", "w:DQ-op"):
                        if not (op == "ConvTranspose" and form != "DQ-op-Q"):
                            yield convolution(op, shapes[op], x, w, per, form, io)


def convolution(op, shape, x, w, per, form, io):
    """Q0: the zero point is the lowest number, so that quantizing does what Relu does."""
    weight_only = form == "w:DQ-op"
    types = [("w", w)] if weight_only else [("x", x), ("w", w)]
    g = Graph(op, f"{form},{per}", types, opset_for(w, *([] if weight_only else [x])),
              "float" if weight_only else io)
    scales = weight_scales(per, 4)
    axis = {"axis": 0 if op == "Conv" else 1} if per == "channel" else {}
    zero = None if per == "tensor" else 8 if w.startswith("u") else 0
    image = g.input("float", (1, 4, 6, 6)) if weight_only else g.activation(x, (1, 4, 6, 6))
    inputs = [image, g.dequantize(g.weight(w, shape), w, scales, zero, **axis)]
    if not weight_only:
        bias_axis = {"axis": 0} if per == "channel" else {}
        inputs.append(g.dequantize(g.weight("int32", (4,)), "int32", np.float32(0.5) * scales, **bias_axis))
    y = g.node(op, inputs)
    if "Relu" in form:
        y = g.node("Relu", [y])
    lowest = int(np.iinfo(element_types.numpy_type(x)).min)
    if form.endswith("Q") or form.endswith("Q0"):
        return g.quantized(y, x, 4.0, lowest if form.endswith("0") else None)
    return g.probe(y, "float")


def matrix_patterns():
    for x, io in activations():
        for w in ("int8", "uint8") + ((x,) if "16" in x else ()):
            for per in ("tensor", "channel"):
                for form in ("DQ-op-Q", "DQ-op"):
                    yield matrix("MatMul", x, w, per, form, io, bias=False)
                    yield matrix("Gemm", x, w, per, form, io, bias=False)
                    yield matrix("Gemm", x, w, per, form, io, bias=True)


def matrix(op, x, w, per, form, io, bias):
    g = Graph(op, f"{form},{per}" + (",bias" if bias else ""), [("x", x), ("w", w)], opset_for(x, w), io)
    scales = weight_scales(per, 8)
    axis = {"axis": 1} if per == "channel" else {}
    inputs = [g.activation(x, (2, 16)), g.dequantize(g.weight(w, (16, 8)), w, scales, **axis)]
    if bias:
        bias_axis = {"axis": 0} if per == "channel" else {}
        inputs.append(g.dequantize(g.weight("int32", (8,)), "int32", np.float32(0.5) * scales, **bias_axis))
    y = g.node(op, inputs)
    return g.quantized(y, x, 4.0) if form.endswith("Q") else g.probe(y, "float")


def weight_only_patterns():
    for op in ("MatMul", "Gemm"):
        for w in ("int8", "uint8", "int4", "uint4"):
            for per in ("tensor", "channel", "block32"):
                opset = 21 if per == "block32" else opset_for(w)
                g = Graph(op, f"w:DQ-op,{per}", [("w", w)], opset, "float")
                shape = {"tensor": (), "channel": (8,), "block32": (2, 8)}[per]
                layout = {"channel": {"axis": 1}, "block32": {"axis": 0, "block_size": 32}}.get(per, {})
                weight = g.dequantize(g.weight(w, (64, 8)), w, np.full(shape, 0.0625, np.float32), **layout)
                yield g.probe(g.node(op, [g.input("float", (2, 64)), weight]), "float")


def dynamic_patterns():
    for op, shape, weight_shape in (("MatMulInteger", (2, 16), (16, 8)), ("ConvInteger", (1, 4, 6, 6), (4, 4, 3, 3))):
        for w in ("int8", "uint8"):
            for bias in (False, True):
                g = Graph(op, "dynamic" + (",bias" if bias else ""), [("w", w)], 13, "float")
                q, scale, zero = g.node("DynamicQuantizeLinear", [g.input("float", shape)], outputs=3)
                point = g.constant(np.asarray(0 if w == "int8" else 8).astype(element_types.numpy_type(w)))
                y = g.node(op, [q, g.weight(w, weight_shape), zero, point])
                y = g.node("Cast", [y], to=element_types.number("float"))
                y = g.node("Mul", [y, g.node("Mul", [scale, g.constant(np.float32(0.0625))])])
                if bias:
                    width = (8,) if op == "MatMulInteger" else (4, 1, 1)
                    y = g.node("Add", [y, g.constant(np.ones(width, np.float32))])
                yield g.probe(y, "float")


def fusion_probes():
    found = []
    for patterns in (unary_patterns, binary_patterns, convolution_patterns, matrix_patterns,
                     weight_only_patterns, dynamic_patterns):
        found += patterns()
    unique = {probe.key: probe for probe in found}   # the weight-only form is the same for every activation
    return list(unique.values())
