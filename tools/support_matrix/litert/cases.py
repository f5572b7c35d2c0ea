"""One operator at a time: inputs, options, and a reference in NumPy that computes with the real numbers behind the stored ones.

cases(seed) gives a list of Case. Shapes and values follow the seed; the key (operator and types) does not.
"""
import copy
import math

import numpy as np
import schema_py_generated as schema
from one_op import LIMITS, NUMPY, TYPES, Case, Tensor

FLOATS, QUANTIZED, WHOLE = ("float32", "float16"), ("int8", "uint8", "int16"), ("int32", "int64")
SHAPE = (1, 4, 6, 8)


def options(name, **fields):
    made = getattr(schema, name + "OptionsT")()
    for key, value in fields.items():
        setattr(made, key, value)
    return made


def range_of(low, high, kind):
    """Scale and zero point of a range that contains 0."""
    low, high = min(float(low), 0.0), max(float(high), 1e-3)
    if kind == "int16":
        return max(-low, high) / 32767, 0
    first, last = LIMITS[kind]
    scale = (high - low) / (last - first)
    return scale, int(np.clip(round(first - low / scale), first, last))


def coded(real, kind, scale, zero):
    first, last = LIMITS[kind]
    return np.clip(np.floor(np.asarray(real, np.float64) / scale + 0.5) + zero, first, last).astype(NUMPY[kind])


class Maker:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.cases = []

    # Tensors.

    def values(self, kind, low, high, shape=SHAPE, steps=None):
        """An input. `steps`: scale and zero point."""
        if kind == "bool":
            return Tensor(kind, self.random.random(shape) < 0.5)
        real = self.random.uniform(low, high, shape)
        if kind in QUANTIZED:
            scale, zero = steps or range_of(low, high, kind)
            return Tensor(kind, coded(real, kind, scale, zero), [scale], [zero])
        if kind in FLOATS:
            return Tensor(kind, real.astype(NUMPY[kind]))
        return Tensor(kind, np.round(real).astype(NUMPY[kind]))

    def numbers(self, values, kind="int32"):
        return Tensor(kind, np.asarray(values, NUMPY[kind]), constant=True)

    def output(self, real, kind, steps=None, looseness=1):
        real = np.asarray(real)
        if kind in QUANTIZED:
            scale, zero = steps or range_of(real.min(), real.max(), kind)
            return Tensor(kind, coded(real, kind, scale, zero), [scale], [zero], looseness=looseness)
        return Tensor(kind, real.astype(NUMPY[kind]), looseness=looseness)

    def add(self, op, inputs, outputs, made=None, **rest):
        self.cases.append(Case(op, inputs, outputs, made, **rest))

    # Families.

    def unary(self, op, f, low, high, kinds, made=None, fixed=None, looseness=2, same=False):
        """`fixed`: scale and zero point of the output by kind; `same`: those of the input."""
        for kind in kinds:
            x = self.values(kind, low, high)
            steps = (x.scale[0], x.zero[0]) if same and x.scale else (fixed or {}).get(kind)
            self.add(op, [x], [self.output(f(x.real()), kind, steps, looseness)], made)

    def binary(self, op, f, low, high, kinds, made=None, second=None, looseness=2, same=False, result=None):
        for kind in kinds:
            x = self.values(kind, low, high)
            steps = (x.scale[0], x.zero[0]) if same and x.scale else None
            y = self.values(kind, *(second or (low, high)), steps=steps)
            self.add(op, [x, y], [self.output(f(x.real(), y.real()), result or kind, steps, looseness)], made)

    def moving(self, op, f, kinds, rest=(), made=None, shape=SHAPE, first=False, **how):
        """Operators that copy values: exact. `rest`: the other inputs; `first`: they come before the data."""
        for kind in kinds:
            x = self.values(kind, -20, 100, shape)
            given = f(x.values)
            outputs = [Tensor(kind, np.ascontiguousarray(y), x.scale, x.zero, looseness=0) for y in (given if isinstance(given, list) else [given])]
            inputs = [*rest, x] if first else [x, *rest]
            self.add(op, inputs, outputs, made, **how)

    def reduction(self, op, f, kinds, low=-3, high=5, same=False, keep=True, looseness=2):
        for kind in kinds:
            x = self.values(kind, low, high, (1, 4, 4, 8))
            steps = (x.scale[0], x.zero[0]) if same and x.scale else None
            real = f(x.real(), axis=(1, 2), keepdims=keep)
            self.add(op, [x, self.numbers([1, 2])], [self.output(real, kind, steps, looseness)], options("Reducer", keepDims=keep))

    # Products with weights: data, weights, bias.

    def weights(self, shape, axis, form):
        real = self.random.uniform(-1, 1, shape)
        if form == "float32":
            return Tensor("float32", real.astype(np.float32), constant=True)
        if form == "uint8":
            scale, zero = range_of(-1, 1, "uint8")
            return Tensor("uint8", coded(real, "uint8", scale, zero), [scale], [zero], constant=True)
        kind, _, layout = form.partition(":")
        most = LIMITS[kind][1] if kind != "int8" else 127
        if layout == "block":
            block = 32
            scale = np.abs(real.reshape(-1, block)).max(axis=1) / most
            scale = scale.astype(np.float16).astype(np.float64)
            codes = np.round(real.reshape(-1, block) / scale[:, None])
            return Tensor(kind, np.clip(codes, -most, most).reshape(shape).astype(np.int8), list(scale), axis=axis, constant=True, block=block)
        others = tuple(i for i in range(len(shape)) if i != axis)
        scale = np.abs(real).max(axis=others, keepdims=True) / most if layout else np.full([1] * len(shape), np.abs(real).max() / most)
        codes = np.clip(np.round(real / scale), -most, most).astype(np.int8)
        flat = scale.reshape(-1)
        return Tensor(kind, codes, list(flat), [0] * len(flat), axis, True)

    def product(self, op, f, shape, weight_shape, axis, channels, made, order=(0, 1), before=(), forms=None, **rest):
        """`f`(data, weights, bias), in reals. `order`: of data and weights among the inputs."""
        full = [("float32", "float32", "float32")]
        full += [("float32", form, "float32") for form in forms or ("int8", "int8:channel", "int4:channel", "int2:channel")]
        full += [("int8", "int8", "int32"), ("int8", "int8:channel", "int32"), ("int8", "int4:channel", "int32"), ("int8", "int2:channel", "int32"),
                 ("int16", "int8:channel", "int64"), ("int16", "int8:channel", "int32"), ("int16", "int8", "int64"), ("int16", "int4:channel", "int64"),
                 ("uint8", "uint8", "int32")]
        for data, form, bias in full:
            x, w = self.values(data, -1, 1, shape), self.weights(weight_shape, axis, form)
            real = self.random.uniform(-1, 1, channels)
            b = Tensor("float32", real.astype(np.float32), constant=True)
            if bias != "float32":
                scale = np.broadcast_to(np.asarray(w.scale) * x.scale[0], (channels,)) if len(w.scale) > 1 else np.asarray(w.scale) * x.scale[0]
                b = Tensor(bias, np.round(real / scale).astype(NUMPY[bias]), list(scale), [0] * len(scale), constant=True)
            y = self.output(f(x.real().astype(np.float64), w.real().astype(np.float64), b.real().astype(np.float64)), data, None,
                            20 if data == "float32" else 2)
            y.hybrid = data == "float32" and form != "float32"
            inputs = [x, w, b] if order == (0, 1) else [w, x, b]
            chosen = made
            if data == "int16" and hasattr(made, "quantizedBiasType"):
                chosen = copy.copy(made)
                chosen.quantizedBiasType = TYPES[bias]
            self.add(op, [*before, *inputs], [y], chosen, **rest)


def windows(x, size, stride=1):
    """[batch, height, width, kh, kw, channels] of a picture without padding."""
    view = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(1, 2))
    return view[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)


def erf(x):
    return np.vectorize(math.erf)(x)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def unaries(m):
    all_of, floats = FLOATS + QUANTIZED, FLOATS
    valued = FLOATS + WHOLE
    m.unary("RELU", lambda x: np.maximum(x, 0), -3, 3, all_of)
    m.unary("RELU6", lambda x: np.clip(x, 0, 6), -3, 9, all_of)
    m.unary("RELU_N1_TO_1", lambda x: np.clip(x, -1, 1), -3, 3, all_of)
    m.unary("RELU_0_TO_1", lambda x: np.clip(x, 0, 1), -3, 3, all_of)
    m.unary("LEAKY_RELU", lambda x: np.where(x < 0, 0.25 * x, x), -3, 3, all_of, options("LeakyRelu", alpha=0.25))
    m.unary("ELU", lambda x: np.where(x < 0, np.expm1(x), x), -3, 3, all_of)
    m.unary("HARD_SWISH", lambda x: x * np.clip(x + 3, 0, 6) / 6, -4, 4, all_of, looseness=3)
    m.unary("GELU", lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), -3, 3, all_of, options("Gelu", approximate=False), looseness=20)
    m.unary("LOGISTIC", lambda x: 1 / (1 + np.exp(-x)), -6, 6, all_of, looseness=4,
            fixed={"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)})
    m.unary("TANH", np.tanh, -3, 3, all_of, looseness=4, fixed={"int8": (1 / 128, 0), "uint8": (1 / 128, 128), "int16": (1 / 32768, 0)})
    m.unary("SOFTMAX", softmax, -3, 3, all_of, options("Softmax", beta=1.0), looseness=4,
            fixed={"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)})
    m.unary("LOG_SOFTMAX", lambda x: np.log(softmax(x)), -3, 3, all_of, options("LogSoftmax"), looseness=4,
            fixed={"int8": (16 / 256, 127), "uint8": (16 / 256, 255)})
    m.unary("L2_NORMALIZATION", lambda x: x / np.sqrt((x * x).sum(axis=-1, keepdims=True)), -3, 3, all_of, options("L2Norm"), looseness=4,
            fixed={"int8": (1 / 128, 0), "uint8": (1 / 128, 128)})
    m.unary("ABS", np.abs, -20, 20, all_of + WHOLE, options("Abs"))
    m.unary("NEG", np.negative, -20, 20, all_of + WHOLE, options("Neg"))
    m.unary("EXP", np.exp, -3, 2, all_of, options("Exp"), looseness=4)
    m.unary("LOG", np.log, 0.5, 4, all_of, looseness=8)
    m.unary("SQRT", np.sqrt, 0.1, 4, all_of)
    m.unary("RSQRT", lambda x: 1 / np.sqrt(np.maximum(x, 1e-2)), 0.5, 4, all_of, looseness=8)
    for op, f in (("SIN", np.sin), ("COS", np.cos), ("FLOOR", np.floor), ("CEIL", np.ceil), ("ROUND", np.round), ("SQUARE", np.square)):
        m.unary(op, f, -3, 3, QUANTIZED + floats if op == "SQUARE" else floats + ("int8",))
    m.unary("SIGN", np.sign, -3, 3, valued)
    m.unary("ZEROS_LIKE", np.zeros_like, -9, 9, valued, options("ZerosLike"))
    m.unary("LOGICAL_NOT", np.logical_not, 0, 1, ("bool",), options("LogicalNot"))
    for kind in valued:
        x = m.values(kind, -9, 9)
        m.add("CUMSUM", [x, m.numbers(2)], [m.output(np.cumsum(x.values, axis=2), kind, looseness=4)], options("Cumsum"))
    for kind in FLOATS + QUANTIZED:
        x = m.values(kind, -3, 3)
        alpha = m.values(kind, 0.1, 0.4, (1, 1, SHAPE[3]))
        alpha.constant = True
        y = np.where(x.real() < 0, x.real() * alpha.real(), x.real())
        m.add("PRELU", [x, alpha], [m.output(y, kind, looseness=2)])


def binaries(m):
    numbers = FLOATS + QUANTIZED + WHOLE
    m.binary("ADD", np.add, -9, 9, numbers, options("Add"))
    m.binary("SUB", np.subtract, -9, 9, numbers, options("Sub"))
    m.binary("MUL", np.multiply, -9, 9, numbers, options("Mul"))
    m.binary("DIV", lambda x, y: x / y if x.dtype.kind == "f" else np.trunc(x / y), -9, 9, FLOATS + QUANTIZED + ("int32",), options("Div"), second=(1, 4), looseness=8)
    m.binary("MAXIMUM", np.maximum, -9, 9, numbers, options("MaximumMinimum"), same=True)
    m.binary("MINIMUM", np.minimum, -9, 9, numbers, options("MaximumMinimum"), same=True)
    m.binary("SQUARED_DIFFERENCE", lambda x, y: (x - y) ** 2, -3, 3, FLOATS + ("int8", "int16", "int32"), options("SquaredDifference"), looseness=3)
    m.binary("POW", np.power, 1, 3, FLOATS + ("int32",), options("Pow"), looseness=8)
    m.binary("FLOOR_DIV", lambda x, y: np.floor(x / y), -9, 9, ("float32", "int32"), options("FloorDiv"), second=(1, 4))
    m.binary("FLOOR_MOD", np.mod, 1, 9, ("float32",) + WHOLE, options("FloorMod"), second=(1, 4), looseness=8)
    for kind in ("int8", "int16"):  # integers without a scale
        x = Tensor(kind, m.random.integers(-99, 99, SHAPE).astype(NUMPY[kind]))
        y = Tensor(kind, m.random.integers(1, 5, SHAPE).astype(NUMPY[kind]))
        m.add("FLOOR_DIV", [x, y], [Tensor(kind, x.values // y.values)], options("FloorDiv"))
        m.add("FLOOR_MOD", [x, y], [Tensor(kind, x.values % y.values)], options("FloorMod"))
    m.binary("ATAN2", np.arctan2, -3, 3, ("float32", "float64"), options("ATan2"))
    for op, f in (("EQUAL", np.equal), ("NOT_EQUAL", np.not_equal), ("LESS", np.less), ("LESS_EQUAL", np.less_equal), ("GREATER", np.greater),
                  ("GREATER_EQUAL", np.greater_equal)):
        name = "".join(word.title() for word in op.split("_"))
        kinds = numbers + (("bool",) if op in ("EQUAL", "NOT_EQUAL") else ())
        for kind in kinds:
            # Integers of few values, so that some are equal; quantized ones have one scale.
            x = m.values(kind, -2, 2, steps=(0.5, 0) if kind in QUANTIZED else None)
            y = m.values(kind, -2, 2, steps=(0.5, 0) if kind in QUANTIZED else None)
            m.add(op, [x, y], [Tensor("bool", f(x.values, y.values))], options(name))
    m.binary("LOGICAL_AND", np.logical_and, 0, 1, ("bool",), options("LogicalAnd"))
    m.binary("LOGICAL_OR", np.logical_or, 0, 1, ("bool",), options("LogicalOr"))
    for kind in ("int8", "uint8", "int16", "int32", "uint32"):
        x = Tensor(kind, m.random.integers(0, 100, SHAPE).astype(NUMPY[kind]))
        y = Tensor(kind, m.random.integers(0, 4, SHAPE).astype(NUMPY[kind]))
        m.add("BITWISE_XOR", [x, y], [Tensor(kind, x.values ^ y.values)], options("BitwiseXor"))
        m.add("RIGHT_SHIFT", [x, y], [Tensor(kind, x.values >> y.values)], options("RightShift"))
    for kind in ("float32", "int32"):
        x, y, z = (m.values(kind, -9, 9) for _ in range(3))
        m.add("ADD_N", [x, y, z], [m.output(x.values + y.values + z.values, kind)], options("AddN"), variadic=(True, False))
    for kind in FLOATS + QUANTIZED + WHOLE + ("bool",):
        x = m.values(kind, -9, 9)
        y = m.values(kind, -9, 9, steps=(x.scale[0], x.zero[0]) if x.scale else None)
        choice = m.values("bool", 0, 1)
        chosen = Tensor(kind, np.where(choice.values, x.values, y.values), x.scale, x.zero, looseness=0)
        m.add("SELECT", [choice, x, y], [chosen], options("Select"))
        m.add("SELECT_V2", [choice, x, y], [chosen], options("SelectV2"))


def movements(m):
    kinds = FLOATS + QUANTIZED + WHOLE + ("bool",)
    plain = FLOATS + QUANTIZED + WHOLE
    m.moving("RESHAPE", lambda x: x.reshape(4, 48), kinds, [m.numbers([4, 48])], options("Reshape", newShape=[4, 48]))
    m.moving("SQUEEZE", lambda x: x[0], kinds, made=options("Squeeze", squeezeDims=[0]))
    m.moving("EXPAND_DIMS", lambda x: x[None], kinds, [m.numbers(0)], options("ExpandDims"))
    m.moving("TRANSPOSE", lambda x: x.transpose(0, 2, 1, 3), kinds, [m.numbers([0, 2, 1, 3])], options("Transpose"))
    m.moving("SLICE", lambda x: x[:, 1:3, 2:5, :], kinds, [m.numbers([0, 1, 2, 0]), m.numbers([1, 2, 3, 8])], options("Slice"))
    m.moving("STRIDED_SLICE", lambda x: x[:, 0:4:2, 1:6:2, :], kinds, [m.numbers([0, 0, 1, 0]), m.numbers([1, 4, 6, 8]), m.numbers([1, 2, 2, 1])],
             options("StridedSlice"))
    m.moving("REVERSE_V2", lambda x: x[:, :, ::-1], kinds, [m.numbers([2])], options("ReverseV2"))
    m.moving("TILE", lambda x: np.tile(x, (1, 2, 1, 1)), kinds, [m.numbers([1, 2, 1, 1])], options("Tile"))
    m.moving("BROADCAST_TO", lambda x: np.broadcast_to(x, (3, 4, 6, 8)), kinds, [m.numbers([3, 4, 6, 8])], options("BroadcastTo"))
    m.moving("GATHER", lambda x: x[:, [2, 0, 3]], kinds, [m.numbers([2, 0, 3])], options("Gather", axis=1))
    m.moving("GATHER_ND", lambda x: x[[0, 0], [2, 1]], kinds, [m.numbers([[0, 2], [0, 1]])], options("GatherNd"))
    m.moving("MIRROR_PAD", lambda x: np.pad(x, ((0, 0), (1, 1), (2, 0), (0, 0)), "reflect"), kinds, [m.numbers([[0, 0], [1, 1], [2, 0], [0, 0]])],
             options("MirrorPad", mode=0))
    m.moving("SPACE_TO_DEPTH", lambda x: x.reshape(1, 2, 2, 3, 2, 8).transpose(0, 1, 3, 2, 4, 5).reshape(1, 2, 3, 32), plain, made=options("SpaceToDepth", blockSize=2))
    m.moving("DEPTH_TO_SPACE", lambda x: x.reshape(1, 4, 6, 2, 2, 2).transpose(0, 1, 3, 2, 4, 5).reshape(1, 8, 12, 2), plain, made=options("DepthToSpace", blockSize=2))
    m.moving("SPACE_TO_BATCH_ND", lambda x: x.reshape(2, 2, 3, 2, 8).transpose(1, 3, 0, 2, 4).reshape(4, 2, 3, 8), plain,
             [m.numbers([2, 2]), m.numbers([[0, 0], [0, 0]])], options("SpaceToBatchND"))
    m.moving("BATCH_TO_SPACE_ND", lambda x: x.reshape(2, 2, 1, 2, 3, 8).transpose(2, 3, 0, 4, 1, 5).reshape(1, 4, 6, 8), plain,
             [m.numbers([2, 2]), m.numbers([[0, 0], [0, 0]])], options("BatchToSpaceND"), shape=(4, 2, 3, 8))
    m.moving("SPLIT", lambda x: np.split(x, 2, axis=3), kinds, [m.numbers(3)], options("Split", numSplits=2), first=True, variadic=(False, True))
    m.moving("SPLIT_V", lambda x: [x[..., :3], x[..., 3:]], kinds, [m.numbers([3, 5]), m.numbers(3)], options("SplitV", numSplits=2), variadic=(False, True))
    m.moving("UNPACK", lambda x: [x[:, i] for i in range(4)], kinds, made=options("Unpack", num=4, axis=1), variadic=(False, True))
    m.moving("REVERSE_SEQUENCE", lambda x: np.concatenate([x[:, :3][:, ::-1], x[:, 3:]], axis=1), plain, [m.numbers([3])], options("ReverseSequence", seqDim=1, batchDim=0))
    for kind in kinds:
        parts = [m.values(kind, -20, 100)]
        steps = (parts[0].scale[0], parts[0].zero[0]) if parts[0].scale else None
        parts += [m.values(kind, -20, 100, steps=steps) for _ in range(2)]
        scales = (parts[0].scale, parts[0].zero)
        m.add("CONCATENATION", parts, [Tensor(kind, np.concatenate([p.values for p in parts], axis=3), *scales, looseness=0)], options("Concatenation", axis=3),
              variadic=(True, False))
        m.add("PACK", parts, [Tensor(kind, np.stack([p.values for p in parts], axis=1), *scales, looseness=0)], options("Pack", valuesCount=3, axis=1),
              variadic=(True, False))
        x = parts[0]
        pads = m.numbers([[0, 0], [1, 1], [2, 0], [0, 0]])
        zero = x.zero[0] if x.zero else 0
        m.add("PAD", [x, pads], [Tensor(kind, np.pad(x.values, pads.values, constant_values=zero), *scales, looseness=0)], options("Pad"))
        value = Tensor(kind, np.asarray([x.values.reshape(-1)[0]]).astype(NUMPY[kind]), *scales, constant=True)
        m.add("PADV2", [x, pads, value], [Tensor(kind, np.pad(x.values, pads.values, constant_values=value.values[0]), *scales, looseness=0)], options("PadV2"))
        scalar = Tensor(kind, value.values.reshape(()), *scales)
        m.add("FILL", [m.numbers([2, 3]), scalar], [Tensor(kind, np.full((2, 3), scalar.values), *scales, looseness=0)], options("Fill"))
        indices, updates = m.numbers([[2], [0]]), Tensor(kind, x.values[0, :2, 0], *scales)
        scattered = np.zeros((4, 8), NUMPY[kind])
        scattered[[2, 0]] = updates.values
        m.add("SCATTER_ND", [indices, updates, m.numbers([4, 8])], [Tensor(kind, scattered, *scales, looseness=0)], options("ScatterNd"))
        update, start = Tensor(kind, parts[1].values[:, :2], *scales), m.numbers([0, 1, 0, 0])
        changed = x.values.copy()
        changed[:, 1:3] = update.values
        m.add("DYNAMIC_UPDATE_SLICE", [x, update, start], [Tensor(kind, changed, *scales, looseness=0)], options("DynamicUpdateSlice"))
        rows = m.values(kind, -20, 100, (10, 8))
        rows.constant = True
        picked = Tensor("int32", np.asarray([7, 0, 3], np.int32))
        m.add("EMBEDDING_LOOKUP", [picked, rows], [Tensor(kind, rows.values[picked.values], rows.scale, rows.zero, looseness=0)])
        m.add("SHAPE", [x], [Tensor("int32", np.asarray(SHAPE, np.int32))], options("Shape", outType=2))
        m.add("RANK", [x], [Tensor("int32", np.asarray(4, np.int32))], options("Rank"))
    for form in ("int8", "int8:channel", "int4:channel", "int2:channel"):
        rows = m.weights((10, 8), 0, form)
        picked = Tensor("int32", np.asarray([7, 0, 3], np.int32))
        y = Tensor("float32", rows.real()[picked.values])
        m.add("EMBEDDING_LOOKUP", [picked, rows], [y])


def reductions(m):
    numbers = FLOATS + QUANTIZED + WHOLE
    m.reduction("MEAN", np.mean, FLOATS + QUANTIZED)
    m.reduction("SUM", np.sum, numbers, looseness=4)
    m.reduction("REDUCE_MAX", np.max, numbers, same=True)
    m.reduction("REDUCE_MIN", np.min, numbers, same=True)
    m.reduction("REDUCE_PROD", np.prod, FLOATS + ("int8", "int16") + WHOLE, low=0.9, high=1.2, looseness=8)
    m.reduction("REDUCE_ANY", np.any, ("bool",))
    m.reduction("REDUCE_ALL", np.all, ("bool",))
    for kind in FLOATS + QUANTIZED + WHOLE:
        for op, f in (("ARG_MAX", np.argmax), ("ARG_MIN", np.argmin)):
            x = m.values(kind, -2000, 2000) if kind in WHOLE else m.values(kind, -3, 3)
            for out in ("int32", "int64"):
                m.add(op, [x, m.numbers(3)], [Tensor(out, f(x.values, axis=3).astype(NUMPY[out]))],
                      options("ArgMax" if op == "ARG_MAX" else "ArgMin", outputType=2 if out == "int32" else 4))
        # All different: equal values may come in any order.
        values = m.random.permutation(96)[:24].reshape(3, 8) - 40
        steps = ([1.0], [0]) if kind in QUANTIZED else (None, None)
        values = values if kind != "uint8" else values + 40
        x = Tensor(kind, values.astype(NUMPY[kind]), *steps)
        order = np.argsort(-x.values.astype(np.int64), axis=1)[:, :3]
        m.add("TOPK_V2", [x, m.numbers(3)], [Tensor(kind, np.take_along_axis(x.values, order, 1), *steps, looseness=0), Tensor("int32", order.astype(np.int32))],
              options("TopKV2"))
    for kind in ("float32", "int8", "uint8", "int16") + WHOLE + ("bool",):
        picked = Tensor("int32", np.asarray([1, 3, 0], np.int32))
        on, off = (Tensor(kind, np.asarray(value, NUMPY[kind]), *(([0.5], [0]) if kind in QUANTIZED else (None, None))) for value in (1, 0))
        m.add("ONE_HOT", [picked, m.numbers(4), on, off], [Tensor(kind, np.eye(4)[picked.values].astype(NUMPY[kind]), on.scale, on.zero, looseness=0)],
              options("OneHot", axis=-1))
    for kind in ("float32",) + WHOLE:
        start, limit, step = (Tensor(kind, np.asarray(value, NUMPY[kind]), constant=True) for value in (1, 9, 2))
        m.add("RANGE", [start, limit, step], [Tensor(kind, np.arange(1, 9, 2).astype(NUMPY[kind]))], options("Range"))


def products(m):
    def conv(x, w, b):
        return np.einsum("nyxhwc,ohwc->nyxo", windows(x, 3), w, optimize=True) + b

    def depthwise(x, w, b):
        return np.einsum("nyxhwc,hwc->nyxc", windows(x, 3), w[0]) + b

    def transposed(w, x, b):
        y = np.zeros((1, 7, 9, 16))
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                y[:, 2 * i:2 * i + 3, 2 * j:2 * j + 3] += np.einsum("nc,ohwc->nhwo", x[:, i, j], w)
        return y + b

    m.product("CONV_2D", conv, (1, 6, 6, 8), (16, 3, 3, 8), 0, 16, options("Conv2D", padding=1, strideH=1, strideW=1))
    m.product("DEPTHWISE_CONV_2D", depthwise, (1, 6, 6, 16), (1, 3, 3, 16), 3, 16, options("DepthwiseConv2D", padding=1, strideH=1, strideW=1, depthMultiplier=1))
    m.product("FULLY_CONNECTED", lambda x, w, b: x @ w.T + b, (2, 64), (16, 64), 0, 16, options("FullyConnected"),
              forms=("int8", "int8:channel", "int4:channel", "int4:block", "int2:channel"))
    m.product("TRANSPOSE_CONV", lambda x, w, b: transposed(w, x, b), (1, 3, 4, 8), (16, 3, 3, 8), 0, 16, options("TransposeConv", padding=1, strideH=2, strideW=2),
              order=(1, 0), before=(m.numbers([1, 7, 9, 16]),))
    for data, second in (("float32", "float32"), ("float32", "int8"), ("float32", "int4"), ("int8", "int8"), ("int16", "int16"), ("uint8", "uint8"), ("float16", "float16")):
        for constant in (False, True):
            x = m.values(data, -1, 1, (2, 5, 32))
            if second in ("int8", "int4") and data == "float32":
                y = m.weights((2, 32, 6), 2, second)
                y.constant = True
                if not constant:
                    continue
            else:
                y = m.values(second, -1, 1, (2, 32, 6))
                y.constant = constant
            out = m.output(x.real().astype(np.float64) @ y.real().astype(np.float64), data, None, 20 if data in FLOATS else 2)
            out.hybrid = data == "float32" and second != "float32"
            if y.constant == (second in ("int8", "int4") and data == "float32"):
                m.add("BATCH_MATMUL", [x, y], [out], options("BatchMatMul"))
    for kind in FLOATS + QUANTIZED:
        x = m.values(kind, -3, 3)
        steps = (x.scale[0], x.zero[0]) if x.scale else None
        pool = options("Pool2D", padding=1, strideH=2, strideW=2, filterHeight=2, filterWidth=2)
        seen = windows(x.real(), 2, 2)
        m.add("MAX_POOL_2D", [x], [m.output(seen.max(axis=(3, 4)), kind, steps)], pool)
        m.add("AVERAGE_POOL_2D", [x], [m.output(seen.mean(axis=(3, 4)), kind, steps)], pool)
        if kind in FLOATS:
            m.add("L2_POOL_2D", [x], [m.output(np.sqrt((seen ** 2).mean(axis=(3, 4))), kind)], pool)
        wide = m.values(kind, -3, 3)
        steps = (wide.scale[0], wide.zero[0]) if wide.scale else None
        nearest = wide.values.repeat(2, axis=1).repeat(2, axis=2)
        m.add("RESIZE_NEAREST_NEIGHBOR", [wide, m.numbers([8, 12])], [Tensor(kind, nearest, wide.scale, wide.zero, looseness=0)], options("ResizeNearestNeighbor"))
        real = wide.real().astype(np.float64)
        def stretched(a, axis):
            size = a.shape[axis]
            at = np.maximum((np.arange(2 * size) + 0.5) / 2 - 0.5, 0)
            low = np.floor(at).astype(int)
            high, part = np.minimum(low + 1, size - 1), at - low
            part = part.reshape([-1 if i == axis else 1 for i in range(4)])
            return np.take(a, low, axis) * (1 - part) + np.take(a, high, axis) * part
        smooth = stretched(stretched(real, 1), 2)
        m.add("RESIZE_BILINEAR", [wide, m.numbers([8, 12])], [m.output(smooth, kind, steps, 4 if kind in FLOATS else 1)],
              options("ResizeBilinear", alignCorners=False, halfPixelCenters=True))
    x = m.values("float32", -3, 3)
    around = np.stack([np.pad(x.values ** 2, ((0, 0),) * 3 + ((2, 2),))[..., i:i + 8] for i in range(5)]).sum(axis=0)
    m.add("LOCAL_RESPONSE_NORMALIZATION", [x], [m.output(x.values / (1 + 0.5 * around) ** 0.75, "float32", looseness=20)],
          options("LocalResponseNormalization", radius=2, bias=1.0, alpha=0.5, beta=0.75))


def conversions(m):
    for kind in QUANTIZED:
        real = m.values("float32", -3, 3)
        scale, zero = range_of(-3, 3, kind)
        m.add("QUANTIZE", [real], [Tensor(kind, coded(real.values, kind, scale, zero), [scale], [zero])], options("Quantize"))
        for other in QUANTIZED:
            x = m.values(kind, -3, 3)
            to = range_of(-4, 4, other)
            m.add("QUANTIZE", [x], [m.output(x.real(), other, to, 2 if other == "int16" else 1)], options("Quantize"))
        x = m.values(kind, -3, 3)
        m.add("DEQUANTIZE", [x], [Tensor("float32", x.real())], options("Dequantize"))
    for form in ("int8", "int8:channel", "int4:channel", "int2:channel"):
        w = m.weights((16, 8), 0, form)
        m.add("DEQUANTIZE", [w], [Tensor("float32", w.real())], options("Dequantize"), is_added=True)
    half = Tensor("float16", m.random.uniform(-3, 3, SHAPE).astype(np.float16), constant=True)
    m.add("DEQUANTIZE", [half], [Tensor("float32", half.values.astype(np.float32))], options("Dequantize"), is_added=True)
    kinds = ("float32", "float16", "float64", "int8", "uint8", "int16", "int32", "uint32", "int64", "bool")
    numbers = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9, "float64": 10, "uint32": 15}
    for kind in kinds:
        for other in kinds:
            if kind == other:
                continue
            x = Tensor(kind, m.random.integers(0, 2 if kind == "bool" else 100, SHAPE).astype(NUMPY[kind]))
            m.add("CAST", [x], [Tensor(other, x.values.astype(NUMPY[other]))], options("Cast", inDataType=numbers[kind], outDataType=numbers[other]))


def cases(seed):
    made = Maker(seed)
    for family in (unaries, binaries, movements, reductions, products, conversions):
        family(made)
    return made.cases
