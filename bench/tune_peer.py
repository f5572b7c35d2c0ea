"""The baseline of bench/tune.py --peer: onnxruntime.quantization with the best settings for each benchmark model, found by trying
all of them.

    make("kws", "zoo/kws.onnx", "zoo", "kws.baseline.onnx")      # False: no recipe for this model

Needs numpy, onnx and onnxruntime (pip).
"""

import contextlib
import os
import subprocess
import sys
import tempfile

import numpy as np

CIFAR_MEAN, CIFAR_STD = np.array([.4914, .4822, .4465]), np.array([.2470, .2435, .2616])


def cifar(folder):
    pixels = np.load(os.path.join(folder, "cifar_val.npz"))["calib"] / 255
    return "input", ((pixels - CIFAR_MEAN) / CIFAR_STD).transpose(0, 3, 1, 2)


def digits(folder):
    return "audio", np.load(os.path.join(folder, "kws_val.npz"))["calib"][:, None] / 32768


def commands(folder):
    return "audio", np.load(os.path.join(folder, "commands_calib.npz"))["audio"][:, None] / 32768


def static(percentile, samples):
    """Q/DQ nodes, weights per channel, ranges by percentile."""
    def make_it(model, folder, output):
        from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, quantize_static
        from onnxruntime.quantization.shape_inference import quant_pre_process

        class Reader(CalibrationDataReader):
            def __init__(self):
                name, rows = samples(folder)
                self.feeds = iter([{name: row[None].astype(np.float32)} for row in rows])

            def get_next(self):
                return next(self.feeds, None)

        with tempfile.TemporaryDirectory() as scratch:
            prepared = os.path.join(scratch, "prepared.onnx")
            quant_pre_process(model, prepared, skip_symbolic_shape=True)
            quantize_static(prepared, output, Reader(), quant_format=QuantFormat.QDQ, per_channel=True,
                            calibrate_method=CalibrationMethod.Percentile, extra_options={"CalibPercentile": percentile})
    return make_it


def dynamic(per_channel):
    def make_it(model, folder, output):
        from onnxruntime.quantization import QuantType, quantize_dynamic
        quantize_dynamic(model, output, per_channel=per_channel, weight_type=QuantType.QInt8)
    return make_it


def weights_only(model, folder, output):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weight_only_numpy.py")
    subprocess.run([sys.executable, script, model, output], check=True, stdout=subprocess.DEVNULL)


RECIPES = {
    "mobilenetv2": static(99.999, cifar),
    "kws": static(99.99, digits),
    "commands": static(99.99, commands),
    "vocoder": weights_only,
    "gpt": dynamic(per_channel=True),
    "agnews": dynamic(per_channel=False),
}


def make(name, model, folder, output):
    if name not in RECIPES:
        return False
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        RECIPES[name](model, folder, output)
    return True
