"""Operators of com.microsoft on quantized numbers."""
import numpy as np

from cases.convolution import image
from probe import case as any_case


def case(*names, **options):
    return any_case(*names, domain="com.microsoft", **options)


def quantized(p, *shape, scale, low=None, high=100, constant=False):
    """A tensor with its scale and its zero point: three inputs."""
    (p.constant if constant else p.input)(*shape, low=low, high=high)
    p.value(scale, constant=True)
    p.constant(high=9)


def output_parameters(p, scale):
    p.value(scale, constant=True)
    p.constant(high=9)


@case("QLinearAdd", "QLinearMul")
def binary(p):
    shape = (2, p.size(2, 5))
    quantized(p, *shape, scale=0.05)
    quantized(p, *p.pick(shape, shape[1:], (1,)), scale=0.0625, constant=p.pick(True, False))
    output_parameters(p, 0.25)
    p.off_by = 1


@case("QLinearSigmoid", "QLinearLeakyRelu")
def unary(p):
    quantized(p, 2, p.size(2, 9), scale=0.05)
    output_parameters(p, 1 / 256 if p.schema.name == "QLinearSigmoid" else 0.0625)
    p.off_by = 1


@case("QLinearSoftmax", by={"y_zero_point": ["lowest", "other"]})
def softmax(p):
    quantized(p, 2, p.size(2, 9), scale=0.05)
    lowest = -128 if p.type_of("T") == "int8" else 0
    p.value(1 / 256, constant=True)
    p.value(lowest if p.by["y_zero_point"] == "lowest" else p.size(40, 60), constant=True)
    p.attr(axis=-1, opset=13)
    p.off_by = 1


@case("QLinearAveragePool", by={"spatial": [1, 2, 3], "channels_last": [0, 1]})
def average_pool(p):
    n = p.by["spatial"]
    shape = image(p, 2)
    if p.by["channels_last"]:
        shape = shape[:1] + shape[2:] + shape[1:2]
    quantized(p, *shape, scale=0.05)
    output_parameters(p, 0.0625)
    p.attr(kernel_shape=[p.size(2, 3)] * n, channels_last=p.by["channels_last"])
    p.off_by = 1


@case("QLinearGlobalAveragePool", by={"spatial": [1, 2, 3], "channels_last": [0, 1]})
def global_average_pool(p):
    shape = image(p, 2)
    if p.by["channels_last"]:
        shape = shape[:1] + shape[2:] + shape[1:2]
    quantized(p, *shape, scale=0.05)
    output_parameters(p, 0.0625)
    p.attr(channels_last=p.by["channels_last"])
    p.off_by = 1


@case("QLinearConcat", bindings=lambda s: [{"T8": t, "TV": t} for t in ("uint8", "int8")])
def concat(p):
    output_parameters(p, 0.0625)
    for _ in range(p.size(2, 3)):
        p.input(2, p.size(1, 4), high=100)
        p.value(0.05, constant=True, type="float")
        p.constant(high=9)
    p.attr(axis=1)
    p.off_by = 1


@case("QLinearWhere")
def where(p):
    shape = (2, p.size(2, 6))
    p.input(*shape)
    quantized(p, *shape, scale=0.05)
    quantized(p, *shape, scale=0.0625)
    output_parameters(p, 0.125)
    p.off_by = 1


@case("QLinearConv", by={"spatial": [1, 2], "channels_last": [0, 1], "weight": ["tensor", "channel"]})
def conv(p):
    n, last = p.by["spatial"], p.by["channels_last"]
    shape = image(p, 4)
    quantized(p, *(shape[:1] + shape[2:] + shape[1:2] if last else shape), scale=0.05)
    per = [4] if p.by["weight"] == "channel" else []
    p.constant(4, 4, *[3] * n, high=60)
    p.value(p.rng.integers(1, 4, per) / 64, constant=True)
    p.value(np.zeros(per) if p.type_of("T2") == "int8" else np.full(per, 8), constant=True)
    output_parameters(p, 0.25)
    p.attr(channels_last=last)
    p.off_by = 1


def gemm_types(schema):
    return [{"TA": a, "TB": b, "TYZ": y, "TY": y} if y != "float" else {"TA": a, "TB": b, "TY": y}
            for a in ("uint8", "int8") for b in ("uint8", "int8") for y in ("uint8", "int8", "float")]


@case("QGemm", bindings=gemm_types, by={"weight": ["tensor", "channel"]})
def gemm(p):
    inner, columns, flip = p.size(2, 9), p.size(2, 9), p.pick(0, 1)
    per = [columns] if p.by["weight"] == "channel" else []
    quantized(p, p.size(1, 4), inner, scale=0.0625)
    p.constant(*((columns, inner) if flip else (inner, columns)), high=60)
    p.value(p.rng.integers(1, 4, per) / 64, constant=True)
    p.value(np.zeros(per) if p.type_of("TB") == "int8" else np.full(per, 8), constant=True)
    p.constant(columns, low=-40, high=40) if p.pick(True, False) else p.skip()
    if p.type_of("TY") != "float":
        output_parameters(p, 0.25)
    p.attr(transB=flip)
    p.off_by = 1


@case("MatMulIntegerToFloat", by={"weight": ["tensor", "channel"], "zero_points": ["none", "both"]})
def matmul_to_float(p):
    inner, columns = p.size(2, 9), p.size(2, 9)
    per = [columns] if p.by["weight"] == "channel" else []
    p.input(p.size(1, 4), inner, high=100)
    p.constant(inner, columns, high=60)
    p.value(0.0625, constant=True)
    p.value(p.rng.integers(1, 4, per) / 64, constant=True)
    if p.by["zero_points"] == "both":
        p.constant(high=9)
        p.value(np.zeros(per) if p.type_of("T2") == "int8" else np.full(per, 8), constant=True)


@case("DynamicQuantizeMatMul", by={"weight": ["tensor", "channel"], "zero_point": ["no", "yes"]})
def dynamic_matmul(p):
    inner, columns = p.size(2, 9), p.size(2, 9)
    per = [columns] if p.by["weight"] == "channel" else []
    p.input(p.size(1, 4), inner)
    p.constant(inner, columns, high=60)
    p.value(p.rng.integers(1, 4, per) / 64, constant=True)
    if p.by["zero_point"] == "yes":
        p.value(np.zeros(per) if p.type_of("T2") == "int8" else np.full(per, 8), constant=True)
    p.tolerance = 2e-2


@case("DynamicQuantizeLSTM", by={"weight": ["tensor", "channel"], "direction": ["forward", "bidirectional"]})
def dynamic_lstm(p):
    ways = 2 if p.by["direction"] == "bidirectional" else 1
    hidden, width, steps = 4, p.size(3, 6), p.size(1, 3)
    per = [ways] if p.by["weight"] == "tensor" else [ways, 4 * hidden]
    p.input(steps, 1, width)
    p.constant(ways, width, 4 * hidden, high=60)
    p.constant(ways, hidden, 4 * hidden, high=60)
    p.constant(ways, 8 * hidden)
    for _ in range(4):
        p.skip()
    for _ in range(2):
        p.value(np.full(per, 1 / 64), constant=True)
        p.value(np.zeros(per) if p.type_of("T2") == "int8" else np.full(per, 8), constant=True)
    p.attr(hidden_size=hidden, direction=p.by["direction"])
    p.output_count(3)
    p.tolerance = 3e-2


def nbits_types(schema):
    return [{"T1": t} for t in schema.types["T1"]]


def nbits_point_types(schema):
    return [{"T1": t, "T3": z} for t in schema.types["T1"] for z in {"uint8": 0, t: 0}]


def nbits(p, with_points):
    bits, block = p.by["bits"], p.by["block_size"]
    columns, inner = p.size(2, 5), block * p.size(1, 2)
    blocks = inner // block
    p.input(p.size(1, 3), inner)
    p.value(p.rng.integers(0, 256, (columns, blocks, block * bits // 8)), constant=True)
    p.value(p.rng.integers(1, 4, columns * blocks) / 16, constant=True)
    if with_points:
        row = (blocks * bits + 7) // 8
        if p.type_of("T3") == "uint8":
            p.value(p.rng.integers(0, 256, columns * row), constant=True)
        else:
            p.value(p.rng.integers(0, 2**bits, (columns, blocks)), constant=True)
    p.attr(K=inner, N=columns, bits=bits, block_size=block, accuracy_level=p.by["accuracy_level"])
    p.tolerance = 5e-2 if p.by["accuracy_level"] == 4 else 5e-3
    if p.type_of("T1") != "float":
        p.tolerance = 6e-2


BLOCKS = [16, 32, 64, 128, 256]
NBITS = {"bits": [2, 4, 8], "block_size": BLOCKS, "accuracy_level": [0, 1, 2, 3, 4]}


@case("MatMulNBits", bindings=nbits_types, by={"zero_points": ["no"]} | NBITS)
def matmul_nbits(p):
    nbits(p, with_points=False)


@case("MatMulNBits", bindings=nbits_point_types, by={"zero_points": ["yes"]} | NBITS)
def matmul_nbits_points(p):
    nbits(p, with_points=True)


@case("MatMulBnb4", by={"quant_type": [0, 1], "block_size": [16, 64]})
def matmul_bnb4(p):
    block = p.by["block_size"]
    inner, columns = block, 4
    p.input(p.size(1, 3), inner)
    p.value(p.rng.integers(0, 256, inner * columns // 2), constant=True)
    p.constant(inner * columns // block, low=0.5, high=2)
    p.attr(K=inner, N=columns, block_size=block, quant_type=p.by["quant_type"])


def gather_types(schema):
    return [{"T1": t, "T2": s, "Tind": i} for t in schema.types["T1"] if t in ("int4", "uint4", "uint8")
            for s in schema.types["T2"] for i in schema.types["Tind"]]


@case("GatherBlockQuantized", bindings=gather_types,
      by={"block_size": BLOCKS, "bits": [4, 8], "zero_points": ["no", "yes"]})
def gather_block_quantized(p):
    bits, block = p.by["bits"], p.by["block_size"]
    packed = p.type_of("T1") == "uint8"
    if p.types and not packed and bits == 8:
        return p.reject()
    rows, blocks = p.size(3, 5), 2
    width = block * blocks
    if packed:
        p.value(p.rng.integers(0, 256, (rows, width * bits // 8)), constant=True)
    else:
        p.constant(rows, width, high=7)
    p.input(2, low=0, high=2)
    p.value(p.rng.integers(1, 4, (rows, blocks)) / 16, constant=True)
    if p.by["zero_points"] == "yes":
        if packed:
            p.value(p.rng.integers(0, 256, (rows, blocks * bits // 8)), constant=True)
        else:
            p.constant(rows, blocks, high=7)
    p.attr(block_size=block, gather_axis=0, quantize_axis=1)
    if bits != 4:
        p.attr(bits=bits)


@case("QAttention", by={"weight": ["tensor", "channel"], "mask": ["no", "yes"]})
def attention(p):
    width = 4
    per = [3 * width] if p.by["weight"] == "channel" else []
    p.input(1, p.size(2, 4), width, high=60)
    p.constant(width, 3 * width, high=60)
    p.constant(3 * width)
    p.value(1 / 64, constant=True)
    p.value(np.full(per or [1], 1 / 64) if per else 1 / 64, constant=True)
    p.value([2]) if p.by["mask"] == "yes" else p.skip()
    p.constant(high=9)
    p.value(np.zeros(per) if p.type_of("T2") == "int8" else np.full(per, 8), constant=True)
    p.attr(num_heads=2)


@case("QEmbedLayerNormalization")
def embed_layer_norm(p):
    p.input(1, 3, low=0, high=4)
    p.skip()
    p.constant(5, 4, high=60)
    p.constant(6, 4, high=60)
    p.skip()
    p.constant(4, high=60)
    p.constant(4, high=60)
    p.skip()
    for present in (1, 1, 0, 1, 1):
        p.value(1 / 64, constant=True) if present else p.skip()
    for present in (1, 1, 0, 1, 1):
        p.constant(high=5) if present else p.skip()
