"""A .tflite model of one operator, and what must come out of it.

The tables are written with the schema module of the newest ai-edge-litert wheel, which fetch.py puts next to the libraries.
"""
import math
from dataclasses import dataclass, field

import flatbuffers
import numpy as np
import schema_py_generated as schema

TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9, "float64": 10,
         "uint32": 15, "int4": 17, "int2": 19}
NUMPY = {"float32": np.float32, "float16": np.float16, "int32": np.int32, "uint8": np.uint8, "int64": np.int64, "bool": np.bool_,
         "int16": np.int16, "int8": np.int8, "float64": np.float64, "uint32": np.uint32, "int4": np.int8, "int2": np.int8}
LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "int4": (-7, 7), "int2": (-1, 1)}


# Of operators that have no version 1.
FIRST_VERSIONS = {"BROADCAST_TO": 2}


@dataclass
class Tensor:
    type: str
    values: np.ndarray           # as they are stored: of an output, what must come out
    scale: list = None
    zero: list = None
    axis: int = 0
    constant: bool = False
    hybrid: bool = False         # of an output: activations were quantized on the way
    block: int = 0               # values that share a scale, along the last axis
    looseness: int = 1           # of an output: steps, or multiples of the rounding error of a float

    def real(self):
        """The values that the stored numbers represent."""
        if self.scale is None:
            return self.values
        scale, zero = np.asarray(self.scale, np.float64), np.asarray(self.zero, np.float64)
        if self.block:
            scale = np.repeat(scale.reshape(self.values.shape[0], -1), self.block, axis=1)
            return (self.values.astype(np.float64) * scale).astype(np.float32)
        if scale.size > 1:
            shape = [1] * self.values.ndim
            shape[self.axis] = scale.size
            scale, zero = scale.reshape(shape), zero.reshape(shape)
        return ((self.values.astype(np.float64) - zero) * scale).astype(np.float32)

    def key(self):
        if self.block:
            return self.type + ":block"
        return self.type + (":channel" if self.scale is not None and len(self.scale) > 1 else "")


def stored(values, kind):
    if kind in ("int4", "int2"):
        bits = int(kind[3:])
        flat, per_byte = values.reshape(-1).astype(np.int64) & ((1 << bits) - 1), 8 // bits
        flat = np.concatenate([flat, np.zeros(-len(flat) % per_byte, np.int64)]).reshape(-1, per_byte)
        return (flat << (bits * np.arange(per_byte))).sum(axis=1).astype(np.uint8).tobytes()
    return np.ascontiguousarray(values.astype(NUMPY[kind])).tobytes()


@dataclass
class Case:
    op: str
    inputs: list                 # Tensor, or None for an absent one
    outputs: list                # Tensor
    options: object = None
    variadic: tuple = (False, False)   # the last input, the last output
    is_added: bool = False       # an input is added to the output: a value that is constant is none of a model's outputs
    version: int = None
    key: str = field(default=None)

    def __post_init__(self):
        def side(tensors, is_variadic):
            names = ["-" if tensor is None else tensor.key() for tensor in tensors]
            if is_variadic:
                while len(names) > 1 and names[-1] == names[-2]:
                    names.pop()
                names[-1] += "*"
            return ",".join(names) or "-"
        self.version = self.version or FIRST_VERSIONS.get(self.op, 1)
        if self.is_added:
            self.other = Tensor("float32", np.linspace(-1, 1, self.outputs[0].values.size, dtype=np.float32).reshape(self.outputs[0].values.shape))
        self.key = f"{side(self.inputs, self.variadic[0])}->{side(self.outputs, self.variadic[1])}"

    def model(self):
        """The bytes of the file."""
        model = schema.ModelT()
        model.version = 3
        model.buffers = [schema.BufferT()]
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, self.op)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = self.version
        model.operatorCodes = [code]
        graph = schema.SubGraphT()
        graph.name, graph.tensors = "main", []

        def add(tensor, name, is_constant):
            made = schema.TensorT()
            made.name, made.type, made.shape = name, TYPES[tensor.type], list(tensor.values.shape)
            made.hasRank = True
            if tensor.scale is not None:
                made.quantization = schema.QuantizationParametersT()
                if tensor.block:
                    scales = Tensor("float16", np.asarray(tensor.scale, np.float16).reshape(tensor.values.shape[0], -1), constant=True)
                    blocks = schema.BlockwiseQuantizationT()
                    blocks.scales, blocks.zeroPoints, blocks.blockSize = add(scales, name + "_scales", True), -1, tensor.block
                    made.quantization.detailsType = schema.QuantizationDetails.BlockwiseQuantization
                    made.quantization.details = blocks
                else:
                    made.quantization.scale, made.quantization.zeroPoint = list(map(float, tensor.scale)), list(map(int, tensor.zero))
                    made.quantization.quantizedDimension = tensor.axis
            if is_constant:
                buffer = schema.BufferT()
                buffer.data = np.frombuffer(stored(tensor.values, tensor.type), np.uint8)
                made.buffer = len(model.buffers)
                model.buffers.append(buffer)
            graph.tensors.append(made)
            return len(graph.tensors) - 1

        operator = schema.OperatorT()
        operator.opcodeIndex = 0
        operator.inputs = [-1 if tensor is None else add(tensor, f"input_{i}", tensor.constant) for i, tensor in enumerate(self.inputs)]
        operator.outputs = [add(tensor, f"output_{i}", False) for i, tensor in enumerate(self.outputs)]
        if self.options is not None:
            name = type(self.options).__name__.removesuffix("T")
            if hasattr(schema.BuiltinOptions, name):
                operator.builtinOptionsType, operator.builtinOptions = getattr(schema.BuiltinOptions, name), self.options
            else:
                operator.builtinOptions2Type, operator.builtinOptions2 = getattr(schema.BuiltinOptions2, name), self.options
        graph.operators = [operator]
        graph.inputs = [at for at, tensor in zip(operator.inputs, self.inputs) if tensor is not None and not tensor.constant]
        graph.outputs = list(operator.outputs)
        if self.is_added:
            code = schema.OperatorCodeT()
            code.builtinCode, code.deprecatedBuiltinCode, code.version = schema.BuiltinOperator.ADD, schema.BuiltinOperator.ADD, 1
            model.operatorCodes.append(code)
            addition = schema.OperatorT()
            addition.opcodeIndex, addition.builtinOptionsType, addition.builtinOptions = 1, schema.BuiltinOptions.AddOptions, schema.AddOptionsT()
            graph.inputs.append(add(self.other, "other", False))
            addition.inputs, addition.outputs = [operator.outputs[0], graph.inputs[-1]], [add(self.outputs[0], "sum", False)]
            graph.operators.append(addition)
            graph.outputs = list(addition.outputs)
        model.subgraphs = [graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def given(self):
        given = [tensor for tensor in self.inputs if tensor is not None and not tensor.constant]
        return [stored(tensor.values, tensor.type) for tensor in given + ([self.other] if self.is_added else [])]

    def is_right(self, outputs):
        """Does what came out agree with the reference? `outputs`: the bytes of each."""
        if len(outputs) != len(self.outputs):
            return False
        if self.is_added:
            return agrees(Tensor("float32", self.outputs[0].values + self.other.values), outputs[0])
        return all(agrees(tensor, data) for tensor, data in zip(self.outputs, outputs))


# dB. Hybrid kernels quantize activations to 8 bits; 16-bit functions are tables of 513 values with lines between them.
HYBRID, TABLES = 25, 40


def sqnr(wanted, got):
    wanted, got = wanted.astype(np.float64), got.astype(np.float64)
    if not np.all(np.isfinite(got)):
        return -math.inf
    noise, signal = float(np.sum((got - wanted) ** 2)), float(np.sum(wanted ** 2))
    return math.inf if noise == 0 else 10 * math.log10(max(signal, 1e-30) / noise)


def agrees(tensor, data):
    wanted = tensor.values.astype(NUMPY[tensor.type])
    if len(data) < wanted.nbytes:    # the runtime pads its buffers
        return False
    got = np.frombuffer(data[:wanted.nbytes], NUMPY[tensor.type]).reshape(wanted.shape)
    if tensor.hybrid:
        return sqnr(wanted, got) >= HYBRID
    if tensor.type == "int16" and tensor.scale is not None and tensor.looseness:
        zero = tensor.zero[0]
        return sqnr(wanted.astype(np.float64) - zero, got.astype(np.float64) - zero) >= TABLES
    if tensor.type in ("float32", "float16", "float64"):
        rounding = (2e-3 if tensor.type == "float16" else 1e-5) * tensor.looseness
        size = float(np.max(np.abs(wanted))) if wanted.size else 0
        return bool(np.allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=10 * rounding, atol=rounding * max(size, 1)))
    if tensor.scale is not None:
        return bool(np.max(np.abs(got.astype(np.int64) - wanted.astype(np.int64)), initial=0) <= tensor.looseness)
    return bool(np.array_equal(got, wanted))
