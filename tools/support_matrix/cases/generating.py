"""Operators that make values: constants, ranges, windows, random numbers."""
import numpy as np
from onnx import numpy_helper

import element_types
from probe import case, random_array


@case("Constant")
def constant(p):
    array = random_array(p.rng, p.type_of("T"), (p.size(1, 3),), None, None)
    p.attr(value=numpy_helper.from_array(array))


@case("ConstantOfShape")
def constant_of_shape(p):
    p.value([p.size(1, 3), 2])
    type_ = p.type_of("T2")
    p.attr(value=numpy_helper.from_array(np.ones(1).astype(element_types.numpy_type(type_))))


@case("Range")
@case("Range", domain="com.microsoft")
def range_(p):
    p.value(p.size(0, 2))
    p.value(p.size(5, 9))
    p.value(p.size(1, 2))


@case("BlackmanWindow", "HammingWindow", "HannWindow")
def window(p):
    p.value(p.size(4, 8))
    p.attr(output_datatype=element_types.number(p.type_of("T2")), periodic=p.pick(0, 1))
    if not p.type_of("T2") in element_types.FLOATS:
        p.off_by = 1


@case("MelWeightMatrix", bindings=lambda s: [
    {"T1": i, "T2": f, "T3": y} for i in s.types["T1"] for f in s.types["T2"] for y in ("float", "double")])
def mel_weights(p):
    for value in (4, 16, 8192, 0, 4096):
        p.value(value)
    p.attr(output_datatype=element_types.number(p.type_of("T3")))


@case("RandomNormal", "RandomUniform")
def random(p):
    p.attr(shape=[2, 3], dtype=element_types.number(p.type_of("T")))
    p.unchecked()


def like_types(schema):
    return [{"T1": x, "T2": "float"} for x in schema.types["T1"]] + [
        {"T1": "float", "T2": y} for y in schema.types["T2"] if y != "float"]


@case("RandomNormalLike", "RandomUniformLike", bindings=like_types)
def random_like(p):
    p.input(2, 3)
    p.attr(dtype=element_types.number(p.type_of("T2")))
    p.unchecked()


@case("Multinomial")
def multinomial(p):
    p.input(1, 4, low=0.25, high=1)
    p.attr(dtype=element_types.number(p.type_of("T2")), sample_size=3)
    p.unchecked()


@case("Bernoulli")
def bernoulli(p):
    p.input(2, 3, low=0.25, high=0.75)
    p.attr(dtype=element_types.number(p.type_of("T2")))
    p.unchecked()
