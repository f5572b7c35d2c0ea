"""Runs .tflite files in LiteRT for the benchmarks: outputs on samples, and CPU time in alternating slots.

Uses the Interpreter of ai-edge-litert, with XNNPACK, on one thread; independent of Ounce.
"""
import math
import statistics
import time

import numpy as np


class Session:
    def __init__(self, path):
        from ai_edge_litert.interpreter import Interpreter
        self.interpreter = Interpreter(model_path=str(path), num_threads=1)
        self.interpreter.allocate_tensors()
        self.inputs = self.interpreter.get_input_details()
        self.outputs = self.interpreter.get_output_details()
        self.runs = 1
        self.invoke = self.interpreter._interpreter.Invoke

    def input_names(self):
        """Names of the inputs in the first signature, or of their tensors, in the order of the graph."""
        signatures = self.interpreter.get_signature_list()
        if signatures:
            runner = self.interpreter.get_signature_runner(next(iter(signatures)))
            by_index = {d["index"]: name for name, d in runner.get_input_details().items()}
            return [by_index.get(d["index"], d["name"]) for d in self.inputs]
        return [d["name"] for d in self.inputs]

    def output_names(self):
        return [d["name"] for d in self.outputs]

    def set_sample(self, arrays):
        """`arrays`: in the order of the inputs, each with a batch of one; floats are quantized for quantized inputs."""
        for detail, x in zip(self.inputs, arrays):
            scale, zero = detail["quantization"]
            kind = detail["dtype"]
            if np.issubdtype(kind, np.integer) and np.issubdtype(x.dtype, np.floating):
                limits = np.iinfo(kind)
                x = np.clip(np.round(x / (scale or 1)) + zero, limits.min, limits.max)
            self.interpreter.set_tensor(detail["index"], np.ascontiguousarray(x.reshape(detail["shape"]), dtype=kind))

    def run(self):
        self.invoke()
        found = []
        for detail in self.outputs:
            y = self.interpreter.get_tensor(detail["index"])
            scale, zero = detail["quantization"]
            if np.issubdtype(y.dtype, np.integer) and scale:
                y = (y.astype(np.float32) - zero) * np.float32(scale)
            found.append(y)
        return found

    def slot(self, seconds):
        """CPU nanoseconds per run, measured over `seconds`."""
        while True:
            begin = time.thread_time_ns()
            for _ in range(self.runs):
                self.invoke()
            spent = time.thread_time_ns() - begin
            if spent >= seconds * 1e9:
                return spent / self.runs
            self.runs = max(self.runs + 1, math.ceil(self.runs * 1.1 * seconds * 1e9 / max(spent, 1000)))


def ordered(names, data):
    """The arrays of `data` in the order of `names`; by position if there is only one."""
    if len(names) == 1 and len(data) == 1:
        return list(data.values())
    return [data[name] for name in names]


def outputs_on(session, names, data):
    """The outputs for all samples, stacked. `names`: the inputs of the original model, in its order."""
    arrays = ordered(names, data)
    found = []
    for i in range(len(arrays[0])):
        session.set_sample([a[i:i + 1] for a in arrays])
        found.append(session.run())
    return [np.concatenate(parts) for parts in zip(*found)]


def sqnr(reference, found):
    reference, found = reference.astype(np.float64), found.astype(np.float64)
    if not np.isfinite(found).all():
        return -math.inf
    noise = ((reference - found) ** 2).sum()
    return 10 * math.log10((reference ** 2).sum() / noise) if noise else math.inf


def speed_ups(sessions, seconds=.03, rounds=7):
    """Speed of each of `sessions` (by name) relative to the first: the median ratio over alternating slots."""
    times = {name: [] for name in sessions}
    for session in sessions.values():
        session.slot(.001)
    for _ in range(rounds):
        for name, session in sessions.items():
            times[name].append(session.slot(seconds))
    base = times[next(iter(times))]
    return {name: statistics.median(b / t for b, t in zip(base, of)) for name, of in times.items()}
