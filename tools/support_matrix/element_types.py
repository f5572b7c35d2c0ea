"""The element types that are probed: their names, numpy types and numbers in the file format."""
import numpy as np
from onnx import TensorProto, helper

FLOATS = ("float", "double", "float16", "bfloat16")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOAT8 = ("float8e4m3fn", "float8e5m2", "float8e4m3fnuz", "float8e5m2fnuz")
INT4 = ("int4", "uint4")
ALL = FLOATS + SIGNED + UNSIGNED + ("bool", "string") + INT4 + FLOAT8

# The allowed error of a computation in this type, relative to the reference.
TOLERANCE = {"float": 2e-4, "double": 2e-5, "float16": 2e-2, "bfloat16": 6e-2}


def number(name):
    return TensorProto.DataType.Value(name.upper())


def numpy_type(name):
    return np.dtype(helper.tensor_dtype_to_np_dtype(number(name)))


def name_of(number_):
    return TensorProto.DataType.Name(number_).lower()


def of_array(array):
    if array.dtype.kind in "OUS":
        return "string"
    return name_of(helper.np_dtype_to_tensor_dtype(array.dtype))
