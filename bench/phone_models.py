#!/usr/bin/env python3
"""Makes networks for phones with weights that resemble trained ones: MobileNetV3-Large, EfficientNet-B0, a gated WaveNet and an
upscaler with transposed convolutions.

usage: bench/phone_models.py FOLDER [--only mobilenetv3_32,efficientnet_32]      needs numpy, onnx and onnxruntime (pip)

Each network is made layer by layer while images (or audio) run through it. Weights are random with channels of different
magnitudes, then scaled so that every channel has the mean and deviation that batch normalization would have left. The last
layer of a classifier selects the main direction of the features in which an image lies. So ranges and margins resemble those of
trained networks, without downloads. Images come from OUNCE_ZOO. Writes FOLDER/NAME.onnx and FOLDER/NAME.npz with `calib` and
`judge`.
"""

import argparse
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

BATCH = {32: 64, 224: 6}  # images for statistics, by their side length
KEPT = 24  # values kept for later nodes
MEAN, DEVIATION = np.float32([.4914, .4822, .4465]), np.float32([.247, .2435, .2616])


class Network:
    """Builds a graph and runs each node on a batch as it is added."""

    def __init__(self, seed, batch, dims, opset=17):
        self.random = np.random.default_rng(seed)
        self.nodes, self.tensors, self.values, self.opset = [], [], {"input": batch}, opset
        self.dims = dims

    def constant(self, array):
        name = f"w{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def tensor(self, name):
        return next(numpy_helper.to_array(t) for t in self.tensors if t.name == name)

    def run(self, node):
        wanted = [t for t in self.tensors if t.name in node.input]
        fed = [n for n in node.input if n in self.values]
        graph = helper.make_graph([node], "one", [helper.make_tensor_value_info(n, TensorProto.FLOAT, self.values[n].shape) for n in fed],
                                  [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in node.output], wanted)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(None, {n: self.values[n] for n in fed})

    def add(self, op, inputs, **attributes):
        output = f"v{len(self.nodes)}"
        node = helper.make_node(op, inputs, [output], **attributes)
        self.values[output] = self.run(node)[0]
        self.nodes.append(node)
        for name in [n for n in list(self.values)[1:-KEPT] if self.values[n].nbytes > 1 << 20]:
            del self.values[name]
        return output

    def conv(self, x, outputs, kernel, stride=1, group=1, bias=1., gain=1., dilation=1, pads=None, rank=2):
        inputs = self.values[x].shape[1]
        shape = (outputs, inputs // group) + (kernel,) * rank
        weight = self.random.standard_normal(shape) * np.exp(.3 * self.random.standard_normal((outputs,) + (1,) * (rank + 1)))
        if group > 1:  # depthwise kernels are mostly smooth
            bell = np.exp(-.5 * ((np.arange(kernel) - (kernel - 1) / 2) / (kernel / 4)) ** 2)
            weight += 4 * np.sign(self.random.standard_normal((outputs, 1) + (1,) * rank)) * np.multiply.outer(bell, bell)
        weight = weight.astype(np.float32)
        pad = dilation * (kernel - 1) // 2
        settings = {"kernel_shape": [kernel] * rank, "strides": [stride] * rank, "group": group, "dilations": [dilation] * rank,
                    "pads": pads or [pad] * rank + [dilation * (kernel - 1) - pad] * rank}
        name = self.constant(weight)
        raw = self.run(helper.make_node("Conv", [x, name], ["raw"], **settings))[0]
        over = tuple(i for i in range(raw.ndim) if i != 1)
        mean, deviation = raw.mean(over), raw.std(over) + 1e-3
        wanted = gain * np.exp(.15 * self.random.standard_normal(outputs))
        offset = bias + .25 * self.random.standard_normal(outputs)
        factor = (wanted / deviation).astype(np.float32)
        self.tensors[-1] = numpy_helper.from_array(weight * factor.reshape((-1,) + (1,) * (rank + 1)), name)
        shift = self.constant((offset - mean * factor).astype(np.float32))
        return self.add("Conv", [x, name, shift], **settings)

    def transposed(self, x, outputs, kernel, stride, pad, rank=2, gain=1.):
        inputs = self.values[x].shape[1]
        weight = self.random.standard_t(5, (inputs, outputs) + (kernel,) * rank).astype(np.float32)
        settings = {"kernel_shape": [kernel] * rank, "strides": [stride] * rank, "pads": [pad] * 2 * rank}
        name = self.constant(weight)
        raw = self.run(helper.make_node("ConvTranspose", [x, name], ["raw"], **settings))[0]
        self.tensors[-1] = numpy_helper.from_array(weight * np.float32(gain / raw.std()), name)
        shift = self.constant((.1 * self.random.standard_normal(outputs)).astype(np.float32))
        return self.add("ConvTranspose", [x, name, shift], **settings)

    def directions(self, features, samples, count=5):
        """A Gemm that selects the main direction of the features in which a sample lies: two classes for each direction."""
        session = onnxruntime.InferenceSession(self.model(features).SerializeToString(), providers=["CPUExecutionProvider"])
        x = np.concatenate([session.run(None, {"input": samples[i:i + 32]})[0] for i in range(0, len(samples), 32)]).astype(np.float64)
        mean = x.mean(0)
        _, sizes, axes = np.linalg.svd(x - mean, full_matrices=False)
        weight = axes[:count].T * np.sqrt(len(x)) / sizes[0]
        weight = 4 * np.concatenate([weight, -weight], 1)
        return self.add("Gemm", [features, self.constant(weight.astype(np.float32)), self.constant((-mean @ weight).astype(np.float32))])

    def model(self, output):
        dims = ["N", *self.values[output].shape[1:]]
        graph = helper.make_graph(self.nodes, "phone", [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["N", *self.dims])],
                                  [helper.make_tensor_value_info(output, TensorProto.FLOAT, dims)], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model


def squeeze(net, x, inner, is_hard):
    pooled = net.add("GlobalAveragePool", [x])
    small = net.conv(pooled, inner, 1)
    small = net.add("Relu", [small]) if is_hard else silu(net, small)
    gate = net.conv(small, net.values[x].shape[1], 1, bias=.5)
    gate = net.add("HardSigmoid", [gate], alpha=1 / 6, beta=.5) if is_hard else net.add("Sigmoid", [gate])
    return net.add("Mul", [x, gate])


def silu(net, x):
    return net.add("Mul", [x, net.add("Sigmoid", [x])])


def rounded(channels):
    return max(8, int(channels + 4) // 8 * 8)


def mobilenetv3(net, samples, is_small_picture):
    hard, soft = (lambda x: net.add("HardSwish", [x])), (lambda x: net.add("Relu", [x]))
    x = hard(net.conv("input", 16, 3, 1 if is_small_picture else 2))
    for kernel, wide, out, has_squeeze, bend, stride in [
            (3, 16, 16, 0, soft, 1), (3, 64, 24, 0, soft, 1 if is_small_picture else 2), (3, 72, 24, 0, soft, 1), (5, 72, 40, 1, soft, 2),
            (5, 120, 40, 1, soft, 1), (5, 120, 40, 1, soft, 1), (3, 240, 80, 0, hard, 2), (3, 200, 80, 0, hard, 1),
            (3, 184, 80, 0, hard, 1), (3, 184, 80, 0, hard, 1), (3, 480, 112, 1, hard, 1), (3, 672, 112, 1, hard, 1),
            (5, 672, 160, 1, hard, 2), (5, 960, 160, 1, hard, 1), (5, 960, 160, 1, hard, 1)]:
        before, inputs = x, net.values[x].shape[1]
        if wide != inputs:
            x = bend(net.conv(x, wide, 1))
        x = bend(net.conv(x, wide, kernel, stride, wide))
        if has_squeeze:
            x = squeeze(net, x, rounded(wide / 4), True)
        x = net.conv(x, out, 1, gain=.6 if stride == 1 and out == inputs else 1.)
        if stride == 1 and out == inputs:
            x = net.add("Add", [x, before])
    x = hard(net.conv(x, 960, 1))
    x = net.add("Flatten", [net.add("GlobalAveragePool", [x])])
    return net.directions(x, samples)


def efficientnet(net, samples, is_small_picture):
    x = silu(net, net.conv("input", 32, 3, 1 if is_small_picture else 2))
    for kernel, wider, out, count, first in [(3, 1, 16, 1, 1), (3, 6, 24, 2, 1 if is_small_picture else 2), (5, 6, 40, 2, 2), (3, 6, 80, 3, 2),
                                             (5, 6, 112, 3, 1), (5, 6, 192, 4, 2), (3, 6, 320, 1, 1)]:
        for i in range(count):
            before, inputs, stride = x, net.values[x].shape[1], first if i == 0 else 1
            if wider > 1:
                x = silu(net, net.conv(x, wider * inputs, 1))
            x = silu(net, net.conv(x, wider * inputs, kernel, stride, wider * inputs))
            x = squeeze(net, x, max(1, inputs // 4), False)
            x = net.conv(x, out, 1, gain=.6 if stride == 1 and out == inputs else 1.)
            if stride == 1 and out == inputs:
                x = net.add("Add", [x, before])
    x = silu(net, net.conv(x, 1280, 1))
    x = net.add("Flatten", [net.add("GlobalAveragePool", [x])])
    return net.directions(x, samples)


def wavenet(net):
    x = net.conv("input", 48, 1, rank=1)
    skips = None
    for i in range(10):
        dilation = 2 ** (i % 5)
        a = net.add("Tanh", [net.conv(x, 48, 3, dilation=dilation, rank=1)])
        b = net.add("Sigmoid", [net.conv(x, 48, 3, dilation=dilation, rank=1)])
        gated = net.add("Mul", [a, b])
        skip = net.conv(gated, 48, 1, rank=1)
        skips = skip if skips is None else net.add("Add", [skips, skip])
        x = net.add("Add", [x, net.conv(gated, 48, 1, rank=1, gain=.4)])
    return net.conv(net.add("Relu", [net.conv(net.add("Relu", [skips]), 64, 1, rank=1)]), 16, 1, rank=1)


def upscaler(net):
    x = net.add("Relu", [net.conv("input", 32, 3)])
    for _ in range(3):
        x = net.add("Add", [x, net.conv(net.add("Relu", [net.conv(x, 32, 3)]), 32, 3, gain=.5)])
    for outputs in (32, 16):
        x = net.add("Relu", [net.transposed(x, outputs, 4, 2, 1)])
    return net.conv(x, 3, 3, gain=.3)


def enlarged(x, side):
    if side != 32:
        at = (np.arange(side) + .5) * 32 / side - .5
        low = np.clip(np.floor(at).astype(int), 0, 31)
        high, share = np.clip(low + 1, 0, 31), (at - np.floor(at)).astype(np.float32)
        x = x[:, :, low] * (1 - share)[:, None] + x[:, :, high] * share[:, None]
        x = x[..., low] * (1 - share) + x[..., high] * share
    return np.ascontiguousarray(x, np.float32)


def pictures(side, count):
    zoo = np.load(os.path.join(os.environ["OUNCE_ZOO"], "cifar_val.npz"))
    order = np.random.default_rng(0).permutation(len(zoo["x"]))[:count]
    x = ((zoo["x"][order].astype(np.float32) / 255 - MEAN) / DEVIATION).transpose(0, 3, 1, 2)
    return enlarged(x, side)


def save(folder, name, net, output, calib, judge):
    onnx.save(net.model(output), os.path.join(folder, name + ".onnx"))
    np.savez(os.path.join(folder, name + ".npz"), calib=calib, judge=judge)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    wanted = arguments.only.split(",") if arguments.only else None
    for name, make in [("mobilenetv3", mobilenetv3), ("efficientnet", efficientnet)]:
        for side, fit, calib, judge in [(32, 1200, 200, 600), (224, 160, 48, 96)]:
            if wanted and f"{name}_{side}" not in wanted:
                continue
            x = pictures(side, 2000 if side == 32 else 400)
            net = Network(3, x[:BATCH[side]], [3, side, side], 14 if name == "mobilenetv3" else 13)
            output = make(net, x[:fit], side == 32)
            save(arguments.folder, f"{name}_{side}", net, output, x[fit - calib:fit], x[fit:fit + judge])
    random = np.random.default_rng(5)
    if not wanted or "wavenet" in wanted:
        sound = np.cumsum(random.standard_normal((160, 20, 256)), 2).astype(np.float32)
        sound = (sound - sound.mean(2, keepdims=True)) / 8 * np.exp(.5 * random.standard_normal((160, 1, 1)).astype(np.float32))
        net = Network(7, sound[:32], [20, 256])
        save(arguments.folder, "wavenet", net, wavenet(net), sound[32:96], sound[96:])
    if not wanted or "upscaler" in wanted:
        x = pictures(32, 200)
        net = Network(9, x[:32], [3, 32, 32])
        save(arguments.folder, "upscaler", net, upscaler(net), x[32:96], x[96:])


if __name__ == "__main__":
    main()
