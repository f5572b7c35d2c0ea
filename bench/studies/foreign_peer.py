#!/usr/bin/env python3
"""The baseline of bench/studies/foreign_table.py: onnxruntime.quantization with its defaults.

usage: foreign_peer.py static|dynamic MODEL OUTPUT [data options of ounce, from models.json]

Runs in a separate process, because it may crash. Static: Q/DQ, per channel, min-max, after its preprocessing step if that
succeeds. Needs numpy, onnx and onnxruntime (pip).
"""

import os
import sys
import tempfile
import wave

import numpy as np


def value_of(options, name, otherwise=None):
    return options[options.index(name) + 1] if name in options else otherwise


def number(text):
    return float(text.split("/")[0]) / float(text.split("/")[1]) if "/" in text else float(text)


def prepared(values, options):
    """The samples of one input, after the preprocessing options."""
    if "--rescale" in options:
        values = values * number(value_of(options, "--rescale"))
    if "--mean" in options:
        values = values - [float(part) for part in value_of(options, "--mean").split(",")]
    if "--std" in options:
        values = values / [float(part) for part in value_of(options, "--std").split(",")]
    return values.transpose(0, 3, 1, 2) if "--layout" in options else values


def feeds(model, options):
    """One dictionary per sample, with the inputs of the model; at most 32."""
    import onnxruntime
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    types = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}
    inputs = {value.name: (types[value.type], value.shape) for value in session.get_inputs()}
    path = value_of(options, "--data")
    if path.endswith(".wav"):
        with wave.open(path) as file:
            sound = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        frame, hop = int(value_of(options, "--frame")), int(value_of(options, "--hop"))
        arrays = {value_of(options, "--for"): np.lib.stride_tricks.sliding_window_view(sound, frame)[::hop]}
    else:
        arrays = dict(np.load(path))
    count = min(32, int(value_of(options, "--samples", "32")), min(len(array) for array in arrays.values()))
    raw = value_of(options, "--for") or (next(iter(arrays)) if len(arrays) == 1 else None)
    fixed = dict(option.split("=") for option in options if "=" in option and option.split("=")[0] in inputs)
    states = [options[n + 1].split("=")[0] for n, option in enumerate(options) if option == "--carry"]
    batch = {shape[0] for _, shape in inputs.values() if shape and isinstance(shape[0], int) and shape[0] > 1} if len(inputs) == 1 else set()
    size = batch.pop() if batch else 1
    for at in range(0, count - size + 1, size):
        feed = {}
        for name, (kind, shape) in inputs.items():
            if name in states:
                feed[name] = np.zeros([side if isinstance(side, int) else 1 for side in shape], kind)
            elif name in fixed:
                feed[name] = np.full([side if isinstance(side, int) else 1 for side in shape], float(fixed[name]), kind)
            else:
                field = name if name in arrays else next(iter(arrays))
                values = arrays[field][at:at + size]
                feed[name] = (prepared(values, options) if field == raw else values).astype(kind)
        yield feed


def static(model, output, options):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.feeds = feeds(model, options)

        def get_next(self):
            return next(self.feeds, None)

    with tempfile.NamedTemporaryFile(suffix=".onnx") as scratch:
        try:
            quant_pre_process(model, scratch.name, skip_symbolic_shape=True)
            source = scratch.name
        except Exception:  # this step is optional
            source = model
        quantize_static(source, output, Reader(), quant_format=QuantFormat.QDQ, per_channel=True)


def dynamic(model, output, options):
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(model, output, weight_type=QuantType.QInt8)


def main(kind, model, output, *options):
    """Removes results that do not load."""
    import onnxruntime
    made = output + ".new"
    {"static": static, "dynamic": dynamic}[kind](model, made, list(options))
    onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    os.replace(made, output)


if __name__ == "__main__":
    main(*sys.argv[1:])
