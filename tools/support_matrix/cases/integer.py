"""Operators of ai.onnx on quantized numbers."""
import numpy as np

import element_types
from cases.convolution import image
from probe import case

ZERO_POINTS = ["none", "x", "both", "channel"]   # which are there; channel: one for each column or filter


@case("ConvInteger", by={"spatial": [1, 2, 3], "zero_points": ZERO_POINTS})
def conv_integer(p):
    n, points = p.by["spatial"], p.by["zero_points"]
    group = p.pick(1, 2)
    p.input(*image(p, 4), high=100)
    p.constant(4, 4 // group, *[3] * n, high=60)
    if points != "none":
        p.constant(high=9)
    if points in ("both", "channel"):
        p.constant(*([4] if points == "channel" else []), low=1, high=7)
    p.attr(group=group, pads=[p.size(0, 1)] * (2 * n), strides=[p.size(1, 2)] * n)


@case("MatMulInteger", by={"zero_points": ZERO_POINTS})
def matmul_integer(p):
    points, inner, columns = p.by["zero_points"], p.size(2, 9), p.size(2, 9)
    p.input(*p.pick((), (2,)), p.size(1, 4), inner, high=100)
    (p.constant if p.pick(True, False) else p.input)(inner, columns, high=60)
    if points != "none":
        p.constant(high=9)
    if points in ("both", "channel"):
        p.constant(*([columns] if points == "channel" else []), low=1, high=7)


@case("QLinearConv", by={"spatial": [1, 2, 3], "weight": ["tensor", "channel"]})
def qlinear_conv(p):
    n, group = p.by["spatial"], p.pick(1, 2, 4)
    channels = [4] if p.by["weight"] == "channel" else []
    p.input(*image(p, 4), high=100)
    p.value(0.05, constant=True)
    p.constant(high=9)
    p.constant(4, 4 // group, *[3] * n, high=60)
    p.value(p.rng.integers(1, 4, channels) / 64, constant=True)
    p.value(np.zeros(channels) if p.type_of("T2") == "int8" else np.full(channels, 8), constant=True)
    p.value(0.25, constant=True)
    p.constant(high=9)
    if p.pick(True, False):
        p.constant(4, low=-40, high=40)
    p.attr(group=group, pads=[p.size(0, 1)] * (2 * n), strides=[p.size(1, 2)] * n)
    p.off_by = 1


EIGHT_BITS = ("int8", "uint8")


def qlinear_types(schema):
    found = [{"T1": a, "T2": b, "T3": y} for a in EIGHT_BITS for b in EIGHT_BITS for y in EIGHT_BITS]
    if "TS" in schema.types:
        found = [b | {"TS": s} for s in ("float", "float16", "bfloat16") for b in found
                 if s == "float" or b["T1"] == b["T3"]]
    return found


@case("QLinearMatMul", bindings=qlinear_types, by={"weight": ["tensor", "channel"]})
def qlinear_matmul(p):
    inner, columns = p.size(2, 9), p.size(2, 9)
    per = [columns] if p.by["weight"] == "channel" else []
    p.input(p.size(1, 4), inner, high=100)
    p.value(0.0625, constant=True)
    p.constant(high=9)
    p.constant(inner, columns, high=60)
    p.value(p.rng.integers(1, 4, per) / 64, constant=True)
    p.value(np.zeros(per) if p.type_of("T2") == "int8" else np.full(per, 8), constant=True)
    p.value(0.25, constant=True)
    p.constant(high=9)
    p.off_by = 1


GRANULARITY = {"per": lambda s: ["tensor"] + (["axis"] if "axis" in s.attributes else []) + (
    ["block"] if "block_size" in s.attributes else [])}
SHAPE = (4, 6)


def scale_shape(p):
    """The shape of the scales of a [4, 6] tensor; sets the attributes that say so."""
    per = p.by["per"]
    if per == "tensor":
        return []
    axis = p.pick(0, 1)
    p.attr(axis=axis)
    if per == "axis":
        return [SHAPE[axis]]
    size = p.pick(2, SHAPE[axis] // 2)
    p.attr(block_size=size)
    return [SHAPE[n] // size if n == axis else SHAPE[n] for n in range(2)]


def zero_point(p, shape, type_):
    if type_.startswith("u"):
        p.constant(*shape, low=0, high=9)
    else:
        p.value(np.zeros(shape), constant=True)


def quantize_types(schema):
    if "T3" not in schema.types:
        return [{"T1": x, "T2": y} for x in schema.types["T1"] for y in schema.types["T2"]]
    return [{"T1": x, "T2": s, "T3": y} for x in schema.types["T1"]
            for s in {x: 0, "float": 0} for y in schema.types["T3"]]


CONTRIB = {"per": ["tensor", "axis"], "zero_point": ["no", "yes"]}


@case("QuantizeLinear", by=GRANULARITY, bindings=quantize_types)
@case("QuantizeLinear", domain="com.microsoft", by=CONTRIB, bindings=quantize_types)
def quantize(p):
    target = p.type_of("T3" if "T3" in p.schema.types else "T2")
    p.input(*SHAPE, low=-3, high=3)
    shape = scale_shape(p)
    whole = p.type_at(1) == "int32"
    p.value(np.ones(shape) if whole else p.rng.choice([0.25, 0.5, 1.0], shape), constant=True)
    if p.by.get("zero_point") == "no":
        if p.types and target != "uint8":
            p.reject()
    elif "output_dtype" in p.schema.attributes and p.pick(True, False):
        p.attr(output_dtype=element_types.number(target))
    else:
        zero_point(p, shape, target)


def dequantize_types(schema):
    if "T2" not in schema.types:
        return [{"T": x} for x in schema.types["T"]]
    if "T3" not in schema.types:
        return [{"T1": x, "T2": s} for x in schema.types["T1"] for s in schema.types["T2"]]
    return [{"T1": x, "T2": s, "T3": y} for x in schema.types["T1"] for s in schema.types["T2"]
            for y in {s: 0, "float": 0} if s in element_types.FLOATS]


@case("DequantizeLinear", by=GRANULARITY, bindings=dequantize_types)
@case("DequantizeLinear", domain="com.microsoft", by=CONTRIB, bindings=dequantize_types)
def dequantize(p):
    p.input(*SHAPE)
    shape = scale_shape(p)
    p.value(p.rng.choice([0.25, 0.5, 1.0], shape), constant=True)
    if "T3" in p.types and p.types["T3"] != p.types["T2"]:
        p.attr(output_dtype=element_types.number(p.types["T3"]))
    wanted = p.by.get("zero_point")
    if wanted == "yes" or (wanted is None and p.type_at(0) != "int32" and p.pick(True, False)):
        zero_point(p, shape, p.type_at(0))


@case("DynamicQuantizeLinear")
def dynamic_quantize(p):
    p.input(p.size(2, 4), p.size(2, 9))
    p.off_by = 1
