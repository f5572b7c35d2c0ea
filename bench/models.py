#!/usr/bin/env python3
"""Writes models for the benchmarks quickly, with only the standard library.

    bench/models.py large 4 /tmp/4g.onnx          # a transformer with 4 GiB of weights in /tmp/4g.onnx.data
    bench/models.py decoder 12 /tmp/12g.onnx      # matrix products only, as in a language model
    bench/models.py chain 100000 /tmp/long.onnx   # 100,000 MatMuls

large is a transformer-like mixture of layers in blocks of 256 MiB, so that models differ only in size. chain, constants and
branches have many small MatMuls.
"""
import array
import os
import random
import sys

FLOAT, INT64 = 1, 7
MIB = 1 << 20


# --- encoded ONNX messages ----------------------------------------------------------------------

def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(field, value):
    return varint(field << 3) + varint(value)


def block(field, payload):
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def attribute(name, value):
    if isinstance(value, int):
        return block(1, name) + integer(3, value) + integer(20, 2)
    if isinstance(value, list):
        return block(1, name) + b"".join(integer(8, v) for v in value) + integer(20, 7)
    kind, payload = value  # ("tensor", …) or ("graph", …)
    return block(1, name) + (block(5, payload) + integer(20, 4) if kind == "tensor" else block(6, payload) + integer(20, 5))


def node(op, inputs, outputs, **attributes):
    message = b"".join(block(1, name) for name in inputs) + b"".join(block(2, name) for name in outputs) + block(4, op)
    return message + b"".join(block(5, attribute(name, value)) for name, value in attributes.items())


def tensor(name, dims, raw, kind=FLOAT):
    return b"".join(integer(1, d) for d in dims) + integer(2, kind) + (block(8, name) if name else b"") + block(9, raw)


def external_tensor(name, dims, location, offset, length):
    entries = {"location": location, "offset": str(offset), "length": str(length)}
    data = b"".join(block(13, block(1, key) + block(2, value)) for key, value in entries.items())
    return b"".join(integer(1, d) for d in dims) + integer(2, FLOAT) + block(8, name) + data + integer(14, 1)


def value_info(name, kind, dims):
    shape = b"".join(block(1, integer(1, d) if isinstance(d, int) else block(2, d)) for d in dims)
    return block(1, name) + block(2, block(1, integer(1, kind) + block(2, shape)))


def graph(nodes, tensors, inputs, outputs):
    return b"".join([b"".join(block(1, n) for n in nodes), block(2, "g"), b"".join(block(5, t) for t in tensors),
                     b"".join(block(11, i) for i in inputs), b"".join(block(12, o) for o in outputs)])


def write_model(path, graph_message):
    with open(path, "wb") as file:
        file.write(integer(1, 8) + block(2, "ounce bench") + block(8, integer(2, 17)) + block(7, graph_message))


# --- large models -----------------------------------------------------------------------------------------------------

HIDDEN = 2048
# One block: 256 MiB of weights.
WEIGHTS = {
    "table": (4096, HIDDEN),           # 32 MiB, looked up by Gather
    "q": (HIDDEN, HIDDEN), "k": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN), "o": (HIDDEN, HIDDEN),  # 16 MiB each, MatMul
    "up": (HIDDEN, 4 * HIDDEN), "down": (4 * HIDDEN, HIDDEN),                                    # 64 MiB each, MatMul
    "conv": (HIDDEN, HIDDEN // 4, 4),  # 16 MiB, Conv with 4 groups
    "gemm": (HIDDEN, HIDDEN),          # 16 MiB, Gemm with transB
}


def size_of(dims):
    size = 4
    for d in dims:
        size *= d
    return size


def block_nodes(b, x):
    """x and the result have the shape [tokens, HIDDEN]."""
    def n(name):
        return f"b{b}.{name}"
    return [
        node("Gather", [n("table"), "tokens"], [n("rows")]),
        node("Add", [x, n("rows")], [n("h")]),
        node("MatMul", [n("h"), n("q")], [n("hq")]),
        node("MatMul", [n("h"), n("k")], [n("hk")]),
        node("MatMul", [n("h"), n("v")], [n("hv")]),
        node("Mul", [n("hq"), n("hk")], [n("hqk")]),
        node("Add", [n("hqk"), n("hv")], [n("mix")]),
        node("MatMul", [n("mix"), n("o")], [n("ho")]),
        node("LayerNormalization", [n("ho"), n("gain"), n("bias")], [n("norm")]),
        node("MatMul", [n("norm"), n("up")], [n("wide")]),
        node("Relu", [n("wide")], [n("bent")]),
        node("MatMul", [n("bent"), n("down")], [n("narrow")]),
        node("Transpose", [n("narrow")], [n("columns")], perm=[1, 0]),
        node("Unsqueeze", [n("columns"), "axis0"], [n("image")]),
        node("Conv", [n("image"), n("conv")], [n("filtered")], group=4, kernel_shape=[4], pads=[2, 1]),
        node("Squeeze", [n("filtered"), "axis0"], [n("flat")]),
        node("Transpose", [n("flat")], [n("back")], perm=[1, 0]),
        node("Gemm", [n("back"), n("gemm")], [n("y")], transB=1),
    ]


def gaussian_blocks(mib=8, seed=1):
    """Random values at a few scales, as bytes, repeated once so that every window of `mib` is contiguous."""
    draw = random.Random(seed)
    values = array.array("f", (draw.gauss(0, 1) for _ in range(1 << 18)))
    values = values * (mib * MIB // 4 // len(values))
    blocks = []
    for scale in (0.02, 0.03, 0.05, 0.08):
        scaled = array.array("f", (v * scale for v in values[:1 << 18])) * (len(values) >> 18)
        blocks.append(scaled.tobytes() * 2)
    return blocks


# One block of a decoder: 192 MiB.
DECODER = {name: WEIGHTS[name] for name in ("q", "k", "v", "o", "up", "down")}


def decoder_nodes(b, x):
    def n(name):
        return f"b{b}.{name}"
    return [
        node("LayerNormalization", [x, n("gain"), n("bias")], [n("h")]),
        node("MatMul", [n("h"), n("q")], [n("hq")]),
        node("MatMul", [n("h"), n("k")], [n("hk")]),
        node("MatMul", [n("h"), n("v")], [n("hv")]),
        node("Sigmoid", [n("hq")], [n("gate")]),
        node("Mul", [n("gate"), n("hk")], [n("hqk")]),
        node("Add", [n("hqk"), n("hv")], [n("mix")]),
        node("MatMul", [n("mix"), n("o")], [n("ho")]),
        node("Add", [x, n("ho")], [n("sum")]),
        node("MatMul", [n("sum"), n("up")], [n("wide")]),
        node("Relu", [n("wide")], [n("bent")]),
        node("MatMul", [n("bent"), n("down")], [n("narrow")]),
        node("LayerNormalization", [n("narrow"), n("gain"), n("bias")], [n("y")]),
    ]


def large(path, gib):
    """Writes `path` and `path`.data."""
    inputs = [value_info("x", FLOAT, ["T", HIDDEN]), value_info("tokens", INT64, ["T"])]
    write_blocks(path, gib, WEIGHTS, block_nodes, inputs)


def decoder(path, gib):
    """Writes `path` and `path`.data."""
    write_blocks(path, gib, DECODER, decoder_nodes, [value_info("x", FLOAT, ["T", HIDDEN])])


def write_blocks(path, gib, weights, nodes_of, inputs):
    location = os.path.basename(path) + ".data"
    blocks = gaussian_blocks()
    window = len(blocks[0]) // 2
    tensors, nodes, offset, turn, x = [tensor("axis0", [1], (0).to_bytes(8, "little"), INT64)], [], 0, 0, "x"
    with open(path + ".data", "wb") as data:
        for b in range(max(1, round(gib * 1024 * MIB / sum(size_of(dims) for dims in weights.values())))):
            for name, dims in weights.items():
                size = size_of(dims)
                tensors.append(external_tensor(f"b{b}.{name}", dims, location, offset, size))
                for at in range(0, size, window):
                    turn += 1
                    shift = turn * 7919 * 4 % window
                    data.write(memoryview(blocks[turn % len(blocks)])[shift:shift + min(window, size - at)])
                offset += size
            ones = array.array("f", [1.0] * HIDDEN).tobytes()
            tensors += [tensor(f"b{b}.gain", [HIDDEN], ones), tensor(f"b{b}.bias", [HIDDEN], bytes(4 * HIDDEN))]
            nodes += nodes_of(b, x)
            x = f"b{b}.y"
    write_model(path, graph(nodes, tensors, inputs, [value_info(x, FLOAT, ["T", HIDDEN])]))


# --- many nodes -------------------------------------------------------------------------------------------------------

SIDE = 32  # a weight of 4 KiB


def small_weights(count):
    values = gaussian_blocks(1)[0]
    size = 4 * SIDE * SIDE
    for i in range(count):
        shift = i * 7919 * 4 % MIB
        yield values[shift:shift + size]


def matmuls(count, name="w", start="x", prefix="y"):
    """`count` MatMuls one after another, and the name of the last result."""
    nodes, x = [], start
    for i in range(count):
        nodes.append(node("MatMul", [x, f"{name}{i}"], [f"{prefix}{i}"]))
        x = f"{prefix}{i}"
    return nodes, x


def x_input():
    return value_info("x", FLOAT, ["N", SIDE])


def chain(path, count):
    """Every MatMul has its own initializer."""
    nodes, last = matmuls(count)
    tensors = [tensor(f"w{i}", [SIDE, SIDE], raw) for i, raw in enumerate(small_weights(count))]
    write_model(path, graph(nodes, tensors, [x_input()], [value_info(last, FLOAT, ["N", SIDE])]))


def constants(path, count):
    """Half of the nodes hold the weights of the other half."""
    muls, last = matmuls(count // 2)
    held = [node("Constant", [], [f"w{i}"], value=("tensor", tensor("", [SIDE, SIDE], raw)))
            for i, raw in enumerate(small_weights(len(muls)))]
    nodes = [n for pair in zip(held, muls) for n in pair]
    write_model(path, graph(nodes, [], [x_input()], [value_info(last, FLOAT, ["N", SIDE])]))


def branches(path, count, batch=50):
    """MatMuls inside the branches of Ifs, `batch` in each."""
    weights = small_weights(count)
    nodes, x = [], "x"
    for i in range(max(1, count // (2 * batch))):
        sides = []
        for side in "te":
            names = f"{side}{i}_w"
            inner, last = matmuls(min(batch, max(1, count // 2)), names, x, f"{side}{i}_y")
            tensors = [tensor(f"{names}{j}", [SIDE, SIDE], next(weights)) for j in range(len(inner))]
            sides.append(graph(inner, tensors, [], [value_info(last, FLOAT, ["N", SIDE])]))
        nodes.append(node("If", ["choice"], [f"if{i}"], then_branch=("graph", sides[0]), else_branch=("graph", sides[1])))
        x = f"if{i}"
    inputs = [x_input(), value_info("choice", 9, [])]
    write_model(path, graph(nodes, [], inputs, [value_info(x, FLOAT, ["N", SIDE])]))


KINDS = {"large": large, "decoder": decoder, "chain": chain, "constants": constants, "branches": branches}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    KINDS[sys.argv[1]](sys.argv[3], float(sys.argv[2]) if sys.argv[1] in ("large", "decoder") else int(sys.argv[2]))
