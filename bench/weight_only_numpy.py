#!/usr/bin/env python3
"""A simple weight-only INT8 script, the baseline of scale.py.

    bench/weight_only_numpy.py model.onnx small.onnx [--per-channel [--search]]

Every float initializer of 1024 bytes or more becomes an INT8 initializer, a scale (largest magnitude / 127) and a
DequantizeLinear node. --search tries eight scales for each channel and keeps the one with the smallest squared error.
Needs numpy and onnx: apt-get install python3-numpy python3-onnx, or pip install numpy onnx.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import helper, numpy_helper

MIN_BYTES = 1024
ONE_FILE = 2**31 - 1


def quantize(weight, axis, search):
    """Quantized values and scale; one scale for each index along `axis`, or a single one."""
    if axis is None:
        scale = np.float32(max(np.abs(weight).max() / 127, np.finfo(np.float32).tiny))
        return np.clip(np.rint(weight / scale), -127, 127).astype(np.int8), np.array(scale)
    others = tuple(i for i in range(weight.ndim) if i != axis)
    scale = np.maximum(np.abs(weight).max(axis=others, keepdims=True) / 127, np.finfo(np.float32).tiny)
    if search:
        scale = best_scale(weight, scale, others)
    return np.clip(np.rint(weight / scale), -127, 127).astype(np.int8), scale.ravel().astype(np.float32)


def best_scale(weight, scale, others):
    best, least = scale, np.full(scale.shape, np.inf, np.float32)
    for factor in np.linspace(1, 1.05, 8, dtype=np.float32):
        tried = scale * factor
        error = np.square(np.clip(np.rint(weight / tried), -127, 127) * tried - weight).sum(axis=others, keepdims=True)
        best = np.where(error < least, tried, best)
        least = np.minimum(error, least)
    return best


def channel_axes(graph):
    """The axis of the output channels: the last one of a MatMul's weight, else the first."""
    axes = {}
    for node in graph.node:
        transposed = any(a.name == "transB" and a.i for a in node.attribute)
        last = node.op_type == "MatMul" or (node.op_type == "Gemm" and not transposed)
        for name in node.input[1:2] if node.op_type != "Gather" else node.input[0:1]:
            axes.setdefault(name, -1 if last else 0)
    return axes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("output")
    parser.add_argument("--per-channel", action="store_true", help="one scale per channel instead of per tensor")
    parser.add_argument("--search", action="store_true", help="with --per-channel: the best of eight scales")
    arguments = parser.parse_args()

    model = onnx.load(arguments.model)
    graph = model.graph
    axes = channel_axes(graph) if arguments.per_channel else {}
    kept, decoders = [], []
    for tensor in graph.initializer:
        weight = numpy_helper.to_array(tensor) if tensor.data_type == onnx.TensorProto.FLOAT else None
        if weight is None or weight.nbytes < MIN_BYTES:
            kept.append(tensor)
            continue
        axis = axes.get(tensor.name)
        if axis is not None:
            axis %= weight.ndim
        codes, scale = quantize(weight, axis, arguments.search)
        kept.append(numpy_helper.from_array(codes, tensor.name + "_q"))
        kept.append(numpy_helper.from_array(scale, tensor.name + "_scale"))
        attributes = {} if axis is None else {"axis": axis}
        decoders.append(helper.make_node("DequantizeLinear", [tensor.name + "_q", tensor.name + "_scale"], [tensor.name],
                                         **attributes))
    nodes = decoders + list(graph.node)
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend(nodes)
    if model.ByteSize() < ONE_FILE:
        onnx.save(model, arguments.output)
    else:
        onnx.save(model, arguments.output, save_as_external_data=True, location=os.path.basename(arguments.output) + ".data")


if __name__ == "__main__":
    main()
