#!/usr/bin/env python3
"""Measures ONNX Runtime's FP32 and INT8 kernels on this CPU, and fits the constants of src/formats/onnx/plan/kernel_costs.cpp.

usage: bench/kernel_costs.py --measure FILE.jsonl [--seconds .05] [--seed 1]     one line per case; needs numpy, onnx, onnxruntime
       bench/kernel_costs.py --fit FILE.jsonl [--block 8]      prints the constants and their errors; also needs scipy

Each case is a small network with the op in the middle, once in FP32 and once between Q/DQ, run on one thread under the
runtime's profiler. So the op has the memory layout of real networks, and its time is separate from that of quantizing and
dequantizing. Times are medians over runs.
"""

import argparse
import collections
import json
import math
import os
import random
import statistics
import tempfile
import time

import numpy as np


def session_of(graph, opset=17):
    import onnx
    import onnxruntime
    from onnx import helper
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    options.profile_file_prefix = os.path.join(tempfile.gettempdir(), f"kernel_costs_{os.getpid()}")
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def profile(session, feed, seconds):
    session.run(None, feed)
    begin, runs = time.perf_counter(), 0
    while runs < 7 or time.perf_counter() - begin < seconds:
        session.run(None, feed)
        runs += 1
    path = session.end_profiling()
    times = collections.defaultdict(list)
    with open(path) as file:
        for event in json.load(file):
            if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
                times[(event["args"]["op_name"], event["name"])].append(event["dur"])
    os.remove(path)
    return [[op, name.removesuffix("_kernel_time"), statistics.median(d)] for (op, name), d in times.items()]


class Builder:
    """A chain of ops, in FP32 or between Q/DQ."""

    def __init__(self, integers, seed):
        self.integers, self.nodes, self.tensors, self.count = integers, [], [], 0
        self.random, self.scales = np.random.default_rng(seed), {}

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def constant(self, array):
        from onnx import numpy_helper
        name = self.name()
        self.tensors.append(numpy_helper.from_array(array, name))
        return name

    def op(self, kind, inputs, **attributes):
        from onnx import helper
        output = self.name()
        self.nodes.append(helper.make_node(kind, inputs, [output], name=f"{kind}_{output}", **attributes))
        return output

    def coded(self, value, scale=.03, zero=128):
        if not self.integers:
            return value
        s, z = self.constant(np.float32(scale)), self.constant(np.uint8(zero))
        coded = self.op("DequantizeLinear", [self.op("QuantizeLinear", [value, s, z]), s, z])
        self.scales[coded] = scale
        return coded

    def weight(self, dims, axis):
        if not self.integers:
            return self.constant(self.random.standard_normal(dims).astype(np.float32) * .05)
        codes = self.constant(self.random.integers(-60, 60, dims).astype(np.int8))
        scales = self.constant(np.full(dims[axis], .001, np.float32))
        return self.op("DequantizeLinear", [codes, scales, self.constant(np.zeros(dims[axis], np.int8))], axis=axis)

    def bias(self, x, channels):
        if not self.integers:
            return self.constant(np.zeros(channels, np.float32))
        codes = self.constant(np.zeros(channels, np.int32))
        return self.op("DequantizeLinear", [codes, self.constant(np.full(channels, self.scales[x] * .001, np.float32)),
                                            self.constant(np.zeros(channels, np.int32))], axis=0)

    def conv(self, x, cin, cout, kernel, stride=1, group=1, relu=True, dilation=1):
        pads = [dilation * (k // 2) for k in kernel]
        y = self.op("Conv", [x, self.weight((cout, cin // group, *kernel), 0), self.bias(x, cout)], kernel_shape=kernel,
                    strides=[stride] * len(kernel), pads=pads + pads, group=group, dilations=[dilation] * len(kernel))
        if self.integers:  # a Relu is expressed by the zero point
            return self.coded(y, zero=0 if relu else 128)
        return self.op("Relu", [y]) if relu else y

    def graph(self, dims, output):
        from onnx import TensorProto, helper
        return helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
                                 [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.tensors)


def conv_case(rng):
    rank = rng.choice([2, 2, 2, 1])
    depthwise = rng.random() < .25
    channels = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512]
    cin = rng.choice(channels[5:] if depthwise else channels)
    cout = cin if depthwise else rng.choice(channels)
    k = rng.choice([3, 3, 5, 7] if depthwise else [1, 1, 1, 3, 3, 5, 7, 9])
    side = rng.choice([1, 2, 4, 7, 8, 10, 14, 16, 20, 28, 32, 40, 56, 64, 80, 112, 128, 160])
    dims = [side, side] if rank == 2 else [side * side if side < 56 else side * 16]
    kernel = [k] * rank
    if rank == 2 and not depthwise and rng.random() < .1:
        kernel = [k, 1]
    return {"op": "Conv", "cin": cin, "cout": cout, "kernel": kernel, "stride": rng.choice([1, 1, 1, 2]),
            "group": cin if depthwise else 1, "dims": dims}


def work(case):
    positions = math.prod(-(-d // case["stride"]) for d in case["dims"])
    return positions * case["cout"] * case["cin"] // case["group"] * math.prod(case["kernel"]), positions


def conv(b, case):
    x = b.coded("x")
    y = b.conv(x, case["cin"], case["cout"], case["kernel"], case["stride"], case["group"])
    return y, (1, case["cin"], *case["dims"])


def around(b, case, middle):
    c = case["c"]
    dims = case["dims"]
    x = b.coded("x")
    left = b.conv(x, 16, c, [1] * len(dims), relu=False)
    right = b.conv(x, 16, c, [1] * len(dims), relu=False) if case["op"] in TWO_SIDED else None
    y = middle(b, left, right, case)
    return b.conv(y, case.get("c_after", c), 16, [1] * len(dims)), (1, 16, *dims)


def pooled(b, x, case, kind, scale=.03, zero=128):
    sides = len(case["dims"])
    return b.coded(b.op(kind, [x], kernel_shape=[3] * sides, pads=[1, 1] * sides), scale, zero)


def resized(b, x, case):
    scales = b.constant(np.float32([1, 1] + [2] * len(case["dims"])))
    return b.coded(b.op("Resize", [x, "", scales], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"))


def sliced(b, x, case):
    ends = [b.constant(np.int64([v])) for v in (0, case["dims"][0] - 1, 2)]
    return b.coded(b.op("Slice", [x, *ends]))


def number(b, value):
    return b.coded(b.constant(np.float32(value)), value, 0)


def hard_swish(b, x):
    if not b.integers:
        return b.op("HardSwish", [x])
    return b.coded(b.op("Mul", [x, b.coded(b.op("Add", [x, number(b, 3.)]), 6 / 255, 0)]))


# Ops between two convolutions; `l` and `r` are the outputs of two convolutions. The names are those of the planner: "Add
# number" is HardSigmoid in FP32, and "Add number, Mul" is HardSwish.
MIDDLES = {
    "Nothing": lambda b, l, r, c: l,
    "Add": lambda b, l, r, c: b.coded(b.op("Add", [l, r])),
    "Mul": lambda b, l, r, c: b.coded(b.op("Mul", [l, r])),
    "Concat": lambda b, l, r, c: b.coded(b.op("Concat", [l, r], axis=1)),
    "Add number": lambda b, l, r, c: b.coded(b.op("Add", [l, number(b, 3.)])) if b.integers else b.op("HardSigmoid", [l]),
    "Add number, Mul": lambda b, l, r, c: hard_swish(b, l),
    "Sigmoid": lambda b, l, r, c: b.coded(b.op("Sigmoid", [l]), 1 / 256, 0),
    "LeakyRelu": lambda b, l, r, c: b.coded(b.op("LeakyRelu", [l], alpha=.1)),
    "MaxPool": lambda b, l, r, c: pooled(b, l, c, "MaxPool"),
    "AveragePool": lambda b, l, r, c: pooled(b, l, c, "AveragePool"),
    "GlobalAveragePool": lambda b, l, r, c: b.coded(b.op("GlobalAveragePool", [l])),
    "Resize": lambda b, l, r, c: resized(b, l, c),
    "Slice": lambda b, l, r, c: sliced(b, l, c),
}
TWO_SIDED = ("Add", "Mul", "Concat")
RESHAPING = ("Concat", "GlobalAveragePool", "Resize", "Slice")  # the next convolution has other sizes, so it does not count


def middle_case(rng, op):
    c = rng.choice([32, 48, 64, 96, 128])
    side = rng.choice([28, 40, 56, 80])
    dims = [side, side] if rng.random() < .75 else [side * side]
    return {"op": op, "c": c, "dims": dims, "c_after": 2 * c if op == "Concat" else c}


def product_case(rng):
    op = rng.choice(["MatMul", "Gemm"])
    k, n = rng.choice([16, 32, 64, 96, 128, 256, 384, 512, 768, 1024, 2048]), rng.choice([10, 16, 32, 64, 128, 256, 384, 512, 768, 1024])
    return {"op": op, "m": rng.choice([1, 1, 4, 16, 64, 128, 256]), "k": k, "n": n}


def product(b, case):
    x = b.coded("x")
    w = b.weight((case["k"], case["n"]), 1)
    if case["op"] == "MatMul":
        return b.op("Relu", [b.op("MatMul", [x, w])]), (case["m"], case["k"])
    return b.coded(b.op("Gemm", [x, w, b.bias(x, case["n"])])), (case["m"], case["k"])


def cases(seed):
    rng = random.Random(seed)
    found = []
    while len(found) < 260:
        case = conv_case(rng)
        macs, _ = work(case)
        values = case["cin"] * math.prod(case["dims"])
        if 2e4 < macs < 1.5e8 and values < 2e6 and case["cout"] * math.prod(case["dims"]) < 2e6:
            found.append(case)
    for _ in range(50):
        found.append(product_case(rng))
    for op in list(MIDDLES)[1:]:
        found += [middle_case(rng, op) for _ in range(6)]
    return found


def measure(path, seconds, seed):
    done = set()
    if os.path.exists(path):
        done = {json.dumps(json.loads(line)["case"], sort_keys=True) for line in open(path)}
    with open(path, "a") as out:
        for number, case in enumerate(cases(seed)):
            if json.dumps(case, sort_keys=True) in done:
                continue
            row = {"case": case}
            for kind in ("floats", "integers"):
                row[kind] = timed(case, number, kind == "integers", seconds)
                if "c" in case:
                    row[kind + " without"] = timed(case | {"op": "Nothing", "c_after": case["c"]}, number, kind == "integers", seconds)
            out.write(json.dumps(row) + "\n")
            out.flush()


def timed(case, number, integers, seconds):
    b = Builder(integers, number)
    if case["op"] == "Conv":
        y, dims = conv(b, case)
    elif "k" in case:
        y, dims = product(b, case)
    else:
        y, dims = around(b, case, MIDDLES[case["op"]])
    feed = {"x": np.random.default_rng(number).standard_normal(dims).astype(np.float32)}
    return profile(session_of(b.graph(dims, y)), feed, seconds)


# Fitting

def up(value, block):
    return -(-value // block) * block


def conv_features(case, integers, block):
    """The table row of a Conv, and the factors of its constants (src/formats/onnx/plan/kernel_costs.cpp)."""
    macs, positions = work(case)
    taps, cin, cout = math.prod(case["kernel"]), case["cin"], case["cout"]
    is_picture, unfolds = len(case["dims"]) == 2, taps > 1
    if integers and case["group"] > 1:
        ones = cout % 8
        eights = cout % 16 - ones
        sixteens = cout // 16 * 16
        return "integer_depthwise", [1, positions * taps * sixteens, positions * sixteens, positions * taps * eights, positions * taps * ones]
    if integers:
        k, n = up(cin * taps, 4), up(cout, 16)
        pieces = taps if is_picture else 1  # in one dimension, contiguous values are unfolded at once
        return "integer_conv", [1, positions * k * n, positions * n, unfolds * positions * cin * taps, unfolds * positions * pieces, k * n,
                                positions * (cout % 16)]
    if case["group"] > 1:
        n = up(cout, block)
        return ("depthwise", [1, positions * taps * n, positions * n]) if is_picture else ("depthwise_line", [cout, positions * taps * cout, positions * cout])
    if is_picture and (cin < block or cin % 4 == 0):
        n = up(cout, block)
        if cin < block:
            return "few_inputs", [1, positions * cin * taps * n, positions * n]
        return ("pointwise" if taps == 1 else "picture"), [1, positions * up(cin, block) * taps * n, positions * n]
    return "unfolded", [1, positions * cin * taps * up(cout, 16), positions * cout, unfolds * positions * cin * taps]


def product_features(case, integers):
    m, k, n = case["m"], case["k"], case["n"]
    if not integers:
        return "matrix", [1, m * k * up(n, 16), k * n]
    return ("integer_gemm" if case["op"] == "Gemm" else "integer_matrix"), [1, m * up(k, 4) * up(n, 16), m * n, m * k, k * n]


KERNELS = {"floats": ("Conv", "FusedConv", "MatMul", "Gemm", "FusedGemm", "FusedMatMul"), "integers": ("QLinearConv", "QGemm", "MatMulIntegerToFloat")}


def everything(events, kind, op):
    return sum(spent for name, _, spent in events if op not in RESHAPING or name not in KERNELS[kind])


def fit(path, block):
    from scipy.optimize import nnls
    by_row, by_value, edges = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
    for line in open(path):
        row = json.loads(line)
        case = row["case"]
        if "c" in case:
            values = case["c"] * math.prod(case["dims"])
            for kind in ("floats", "integers"):
                without = row[kind + " without"]
                extra = everything(row[kind], kind, case["op"]) - everything(without, kind, case["op"])
                if case["op"] in TWO_SIDED and case["op"] not in RESHAPING:
                    extra -= next(e[2] for e in without if e[0] in KERNELS[kind])
                by_value[(case["op"], kind)].append(1000 * extra / values)
            for op, name, spent in row["integers without"] + row["floats without"]:
                if op in ("QuantizeLinear", "DequantizeLinear", "Transpose", "ReorderInput", "ReorderOutput") and math.prod(case["dims"]) > 3000:
                    edges[op].append(1000 * spent / (16 * math.prod(case["dims"])))
            continue
        for kind in ("floats", "integers"):
            spent = sum(e[2] for e in row[kind] if e[0] in KERNELS[kind])
            if spent > 0:
                name, x = conv_features(case, kind == "integers", block) if case["op"] == "Conv" else product_features(case, kind == "integers")
                by_row[name].append((x, spent))
    print("// nanoseconds per unit of each field; then the error factor of half and of nine tenths of the cases")
    for name, rows in by_row.items():
        a, b = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows], float)
        weight = 1 / (b + 3)  # every call takes some microseconds
        constants, _ = nnls(a * weight[:, None], b * weight)
        off = np.abs(np.log2((a @ constants + 3) / (b + 3)))
        print(f"    .{name} = {{{', '.join(f'{1000 * c:.4g}' for c in constants)}}},  "
              f"// {len(rows)} cases, × {2 ** np.percentile(off, 50):.2f}, × {2 ** np.percentile(off, 90):.2f}")
    for op in MIDDLES:
        if (op, "floats") in by_value:
            f, i = (statistics.median(by_value[(op, k)]) for k in ("floats", "integers"))
            print(f'    {{"{op}", {max(f, 0):.2f}, {max(i, 0):.2f}}},')
    print("    // " + ", ".join(f"{op} {statistics.median(v):.2f}" for op, v in edges.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure")
    parser.add_argument("--fit")
    parser.add_argument("--block", type=int, default=16, help="channels of the runtime's float kernels: 16, or 8 without AVX-512")
    parser.add_argument("--seconds", type=float, default=.05)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure, arguments.seconds, arguments.seed)
    if arguments.fit:
        fit(arguments.fit, arguments.block)


if __name__ == "__main__":
    main()
