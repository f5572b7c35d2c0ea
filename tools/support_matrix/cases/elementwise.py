"""Operators that work on each element by itself."""
import numpy as np

import element_types
from probe import case

RANGES = {  # where the operator is defined, for floating point
    "Acos": (-1, 1), "Asin": (-1, 1), "Acosh": (1.25, 3), "Atanh": (-0.75, 0.75), "Log": (0.5, 3),
    "Reciprocal": (0.5, 2), "Sqrt": (0.25, 4), "Tan": (-1, 1), "Round": (-3, 3), "Ceil": (-3, 3),
    "Floor": (-3, 3), "Cosh": (-2, 2), "Sinh": (-2, 2),
}


@case("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf",
      "Exp", "Floor", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal",
      "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt",
      "Swish", "Tan", "Tanh", "ThresholdedRelu", "BitwiseNot", "IsNaN", "IsInf")
def unary(p):
    low, high = RANGES.get(p.schema.name, (None, None))
    p.input(*[p.size(2, 4) for _ in range(p.size(1, 4))], low=low, high=high)
    if p.schema.name in ("Elu", "LeakyRelu", "Celu", "ThresholdedRelu", "HardSigmoid", "Swish"):
        p.attr(alpha=p.pick(None, 0.25, 0.5))


@case("Gelu", by={"approximate": ["none", "tanh"]})
def gelu(p):
    p.input(p.size(2, 4), p.size(2, 5))
    p.attr(approximate=p.by["approximate"])


def broadcast_shapes(p):
    rows, columns = p.size(2, 4), p.size(2, 4)
    return (rows, columns), p.pick((rows, columns), (1, columns), (columns,), (rows, 1), ())


@case("Add", "Sub", "Mul", "And", "Or", "Xor", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual",
      "BitwiseAnd", "BitwiseOr", "BitwiseXor", "PRelu")
def binary(p):
    first, second = broadcast_shapes(p)
    p.input(*first)
    p.input(*second)


@case("Div")
def div(p):
    first, second = broadcast_shapes(p)
    p.input(*first, low=0)
    p.input(*second, low=1, high=3)


@case("Pow")
def power(p):
    first, second = broadcast_shapes(p)
    p.input(*first, low=1, high=3)
    p.input(*second, low=0, high=2)


@case("Mod", by={"fmod": [0, 1]})
def mod(p):
    first, second = broadcast_shapes(p)
    if p.by["fmod"] == 0 and p.type_of("T") in element_types.FLOATS and p.types:
        p.reject()
    p.input(*first, high=20)
    p.input(*second, low=2, high=4)
    p.attr(fmod=p.by["fmod"])


@case("BitShift", by={"direction": ["LEFT", "RIGHT"]})
def bit_shift(p):
    first, second = broadcast_shapes(p)
    p.input(*first, high=15)
    p.input(*second, high=3)
    p.attr(direction=p.by["direction"])


@case("Max", "Min", "Sum", "Mean")
def variadic(p):
    shape = (p.size(2, 4), p.size(2, 4))
    for _ in range(p.size(2, 3)):
        p.input(*shape)


@case("Where")
def where(p):
    shape = (p.size(2, 4), p.size(2, 4))
    for _ in range(3):
        p.input(*shape)


@case("Clip", until=10)
def clip_by_attributes(p):
    p.input(p.size(2, 4), 5, low=-2, high=2)
    p.attr(min=-0.5, max=1.0)


@case("Clip", since=11, by={"bounds": ["none", "min", "max", "both"]})
def clip(p):
    p.input(p.size(2, 4), 5)
    p.constant(low=0, high=1) if p.by["bounds"] in ("min", "both") else p.skip()
    if p.by["bounds"] in ("max", "both"):
        p.constant(low=2, high=3)


EXOTIC = element_types.FLOAT8 + element_types.INT4
USUAL_PARTNERS = ("float", "float16", "bfloat16", "int8", "uint8", "int32")


def conversions(schema):
    pairs = [(a, b) for a in schema.types["T1"] for b in schema.types["T2"]]
    return [{"T1": a, "T2": b} for a, b in pairs
            if not (a in EXOTIC and b not in USUAL_PARTNERS or b in EXOTIC and a not in USUAL_PARTNERS)]


def convertible(p):
    """Numbers that every type can hold; as text where the source is text."""
    source, target = p.type_of("T1"), p.type_of("T2")
    values = p.rng.integers(0, 7, p.size(3, 6))
    if target == "bool":
        values = values % 2
    if source == "string":
        return np.array([str(v) for v in values.tolist()], dtype=object)
    return values


@case("Cast", bindings=conversions)
def cast(p):
    p.value(convertible(p))
    p.attr(to=element_types.number(p.type_of("T2")))
    if "string" in (p.type_of("T1"), p.type_of("T2")) and p.type_of("T2") in ("string", "bool"):
        p.unchecked()   # how numbers are written, and which texts are true, is left open


def usual_conversions(schema):
    """It becomes a Cast when the model is loaded; these tell whether it does."""
    return [binding for binding in conversions(schema) if "float" in binding.values()]


@case("CastLike", bindings=usual_conversions)
def cast_like(p):
    p.value(convertible(p))
    p.input(1)
    if "string" in (p.type_of("T1"), p.type_of("T2")) and p.type_of("T2") in ("string", "bool"):
        p.unchecked()   # how numbers are written, and which texts are true, is left open


WIDTHS = {8: ("int8", "uint8", "bool") + element_types.FLOAT8, 16: ("int16", "uint16", "float16", "bfloat16"),
          32: ("int32", "uint32", "float"), 64: ("int64", "uint64", "double")}


def same_width(schema):
    return [{"T1": a, "T2": b} for group in WIDTHS.values() for a in group for b in group
            if a in schema.types["T1"] and b in schema.types["T2"]
            and not (a in element_types.FLOAT8 and b in element_types.FLOAT8)]


@case("BitCast", bindings=same_width)
def bit_cast(p):
    p.input(p.size(2, 5), low=0, high=1)
    p.attr(to=element_types.number(p.type_of("T2")))


@case("Dropout", until=11)
def dropout_by_attribute(p):
    p.input(p.size(2, 4), 5)
    p.attr(ratio=0.5)


@case("Dropout", since=12, by={"training_mode": ["absent", "false", "true"]})
def dropout(p):
    p.input(p.size(2, 4), 5)
    mode = p.by["training_mode"]
    if mode != "absent":
        p.value(0.5, constant=True)
        p.value(mode == "true", constant=True)
    if mode == "true":
        p.unchecked()
