#!/usr/bin/env python3
"""Compares 4-bit methods that Ounce does not have, HQQ and AWQ, with rounding to nearest, by outputs on unseen rows.

    OUNCE_ZOO=/path/to/zoo bench/studies/few_bit_methods.py gpt 64

Needs numpy, onnx and onnxruntime (pip). Weights of MatMuls are rounded in blocks of the given size, and stored as floats again:
the results show the method, not a kernel. Prints the SQNR of the outputs and the share of changed predictions.
"""
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

COVERAGE = (1, 1.06, .94, .88, .82, .76, .7, .63, .55)
CALIBRATED, UNSEEN = 64, {"gpt": 48, "agnews": 400}


def session(model):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class Study:
    def __init__(self, name, block):
        zoo = os.environ.get("OUNCE_ZOO") or sys.exit("OUNCE_ZOO is not set")
        self.name, self.block = name, block
        self.model = onnx.load(os.path.join(zoo, name + ".onnx"))
        self.data = np.load(os.path.join(zoo, name + "_val.npz"))
        tensors = {tensor.name: tensor for tensor in self.model.graph.initializer}
        self.weights, self.inputs = {}, {}
        for node in self.model.graph.node:
            if node.op_type == "MatMul" and node.input[1] in tensors:
                weight = numpy_helper.to_array(tensors[node.input[1]])
                if weight.ndim == 2 and weight.size >= 1024:
                    self.weights[node.input[1]], self.inputs[node.input[1]] = weight, node.input[0]
        self.unseen = [self.feeds(False, slice(i, i + 8)) for i in range(0, UNSEEN[name], 8)]
        run = session(self.model)
        self.wanted = [run.run(None, feeds)[0] for feeds in self.unseen]
        self.watch()

    def feeds(self, is_calibration, rows):
        if self.name == "gpt":
            return {"tokens": self.data["calib" if is_calibration else "x"][rows].astype(np.int64)}
        prefix = "calib_" if is_calibration else ""
        return {"input_ids": self.data[prefix + "ids"][rows].astype(np.int64),
                "attention_mask": self.data[prefix + "mask"][rows].astype(np.int64)}

    def watch(self):
        """Statistics of the products' inputs: energies, magnitudes and some rows."""
        copy = onnx.ModelProto()
        copy.CopyFrom(self.model)
        names = sorted(set(self.inputs.values()))
        for name in names:
            copy.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
        run = session(copy)
        self.energy, self.magnitude = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
        self.rows = {name: [] for name in names}
        for first in range(0, CALIBRATED, 8):
            for name, value in zip(names, run.run(names, self.feeds(True, slice(first, first + 8)))):
                rows = value.reshape(-1, value.shape[-1])
                self.energy[name] = self.energy[name] + (rows ** 2).sum(0)
                self.magnitude[name] = self.magnitude[name] + np.abs(rows).sum(0)
                self.rows[name].append(rows[::37])

    def score(self, weights):
        copy = onnx.ModelProto()
        copy.CopyFrom(self.model)
        for tensor in copy.graph.initializer:
            if tensor.name in weights:
                tensor.CopyFrom(numpy_helper.from_array(weights[tensor.name].astype(np.float32), tensor.name))
        run, noise, signal, flips, answers = session(copy), 0, 0, 0, 0
        for feeds, wanted in zip(self.unseen, self.wanted):
            got = run.run(None, feeds)[0]
            noise, signal = noise + ((got - wanted) ** 2).sum(), signal + (wanted ** 2).sum()
            flips, answers = flips + (got.argmax(-1) != wanted.argmax(-1)).sum(), answers + wanted[..., 0].size
        return f"{10 * np.log10(signal / noise):5.1f} dB  {100 * flips / answers:5.2f} % changed predictions"

    def cut(self, weight):
        padding = -weight.shape[0] % self.block
        return np.pad(weight, ((0, padding), (0, 0))).reshape(-1, self.block, weight.shape[1]).astype(np.float64)

    @staticmethod
    def join(blocks, weight):
        return blocks.reshape(-1, weight.shape[1])[:weight.shape[0]]

    def nearest(self, weight, energy=None):
        """The search of src/quant/blocks.h."""
        x = self.cut(weight)
        h = np.ones_like(x) if energy is None else self.cut(np.repeat(energy[:, None], weight.shape[1], 1))
        low, high = x.min(1, keepdims=True), x.max(1, keepdims=True)
        largest = np.where(high >= -low, high, low)
        best, least = None, None
        for coverage in COVERAGE:
            for reach in (-8, 7):
                scale = largest * coverage / reach
                scale[scale == 0] = 1
                codes = np.clip(np.rint(x / scale), -8, 7)
                squares = (h * codes ** 2).sum(1, keepdims=True)
                scale = np.where(squares > 0, (h * x * codes).sum(1, keepdims=True) / np.maximum(squares, 1e-30), 1)
                scale[scale == 0] = 1
                codes = np.clip(np.rint(x / scale), -8, 7)
                error = (h * (x - scale * codes) ** 2).sum(1, keepdims=True)
                is_better = True if best is None else error < least
                best = scale * codes if best is None else np.where(is_better, scale * codes, best)
                least = error if least is None else np.minimum(error, least)
        return self.join(best, weight)

    def hqq(self, weight, has_whole_zeros, p=.7, beta=10., growth=1.01, rounds=20):
        """Half-quadratic quantization: optimizes zero points while a sparse error is removed."""
        x = self.cut(weight)
        low, high = x.min(1, keepdims=True), x.max(1, keepdims=True)
        inverse = 15 / np.maximum(high - low, 1e-12)
        zero, best, least = -low * inverse, None, np.inf
        for _ in range(rounds):
            codes = np.clip(np.rint(x * inverse + zero), 0, 15)
            error = x - (codes - zero) / inverse
            if np.abs(error).mean() >= least:
                break
            best, least = zero, np.abs(error).mean()
            size = np.abs(error)
            sparse = np.sign(error) * np.maximum(size - np.power(size + 1e-9, p - 1) / beta, 0)
            zero = (codes - (x - sparse) * inverse).mean(1, keepdims=True)
            beta *= growth
        zero = np.rint(best) if has_whole_zeros else best
        return self.join((np.clip(np.rint(x * inverse + zero), 0, 15) - zero) / inverse, weight)

    def awq(self):
        """Scales inputs by a power of their magnitude, chosen for the output error of the products that share them."""
        found, groups = {}, {}
        for name in self.weights:
            groups.setdefault(self.inputs[name], []).append(name)
        for value, names in groups.items():
            rows = np.concatenate(self.rows[value])
            magnitude = self.magnitude[value] / self.magnitude[value].mean() + 1e-4
            least = np.inf
            for power in np.arange(0, 1.01, .1):
                scale = np.power(magnitude, power)
                scale /= np.sqrt(scale.max() * scale.min())
                tried = {name: self.nearest(self.weights[name] * scale[:, None]) / scale[:, None] for name in names}
                error = sum(((rows @ (tried[name] - self.weights[name])) ** 2).sum() for name in names)
                if error < least:
                    least = error
                    best = tried
            found.update(best)
        return found


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in UNSEEN:
        sys.exit(__doc__)
    study = Study(sys.argv[1], int(sys.argv[2]))
    each = study.weights.items()
    print("round to nearest      ", study.score({name: study.nearest(weight) for name, weight in each}), flush=True)
    by_energy = {name: study.nearest(weight, study.energy[study.inputs[name]] / study.energy[study.inputs[name]].mean())
                 for name, weight in each}
    print("scale, by energy      ", study.score(by_energy), flush=True)
    print("hqq, any zero point   ", study.score({name: study.hqq(weight, False) for name, weight in each}), flush=True)
    print("hqq, whole zero points", study.score({name: study.hqq(weight, True) for name, weight in each}), flush=True)
    print("awq, at every product ", study.score(study.awq()), flush=True)


if __name__ == "__main__":
    main()
