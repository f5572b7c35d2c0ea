"""Judges models with onnx.checker, and with ONNX Runtime on random inputs. oracle.py starts it, again after each crash.

Reads and writes one JSON object per line:
  {"model": path, "keep": path, "like": path}
  keep: file for the inputs and outputs, if the model runs; like: take the inputs from this file, and compare the outputs.
"""

import json
import os
import resource
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # redirects the output of libraries

import numpy  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402

TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(int64)": "int64",
         "tensor(int32)": "int32", "tensor(int8)": "int8", "tensor(uint8)": "uint8", "tensor(int16)": "int16",
         "tensor(uint16)": "uint16", "tensor(uint32)": "uint32", "tensor(uint64)": "uint64", "tensor(bool)": "bool"}


def made_up(session):
    draw = numpy.random.default_rng(1)
    inputs = {}
    for one in session.get_inputs():
        if one.type not in TYPES:
            return None
        shape = [d if isinstance(d, int) and d >= 0 else 2 for d in one.shape]
        if numpy.prod([float(d) for d in shape]) > 1e6:
            return None
        kind = TYPES[one.type]
        values = draw.standard_normal(shape) if "float" in kind else draw.integers(0, 2, shape)
        inputs[one.name] = numpy.asarray(values).astype(kind)
    return inputs


def sqnr_db(reference, candidate):
    """SQNR of the worst float output; None if there is none, or if it is meaningless."""
    worst = None
    for name, a in reference.items():
        b = candidate.get(name)
        if b is None or a.dtype.kind != "f" or a.size == 0:
            continue
        if a.shape != b.shape:
            return "shape"
        a, b = a.astype("float64"), b.astype("float64")
        if not numpy.isfinite(a).all():
            continue
        if not numpy.isfinite(b).all():
            return "not finite"
        signal, noise = float((a ** 2).sum()), float(((a - b) ** 2).sum())
        db = 999.0 if noise == 0 else -999.0 if signal == 0 else float(10 * numpy.log10(signal / noise))
        worst = db if worst is None else min(worst, db)
    return worst


def load(path):
    with numpy.load(path, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def judge(request):
    answer = {"checker": "", "runtime": "", "ran": "", "sqnr": None}
    path = request["model"]
    try:
        onnx.checker.check_model(path, full_check=False)
    except Exception as error:
        answer["checker"] = str(error)[:300] or "refused"
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        answer["runtime"] = str(error)[:400] or "refused"
        return answer
    if not request.get("keep") and not request.get("like"):
        return answer
    kept = None
    try:
        if request.get("like"):
            kept = load(request["like"])
            wanted = {one.name: TYPES.get(one.type) for one in session.get_inputs()}
            inputs = {key[2:]: value.astype(wanted.get(key[2:], value.dtype)) for key, value in kept.items() if key.startswith("i:")}
        else:
            inputs = made_up(session)
        if inputs is None:
            answer["ran"] = "no random inputs for this model"
            return answer
        names = [one.name for one in session.get_outputs()]
        outputs = dict(zip(names, session.run(names, inputs)))
    except Exception as error:
        answer["ran"] = str(error)[:300] or "failed"
        return answer
    outputs = {k: v for k, v in outputs.items() if isinstance(v, numpy.ndarray) and v.dtype.kind in "fiub"}
    if kept is not None:
        answer["sqnr"] = sqnr_db({k[2:]: v for k, v in kept.items() if k.startswith("o:")}, outputs)
    if request.get("keep"):
        numpy.savez(request["keep"], **{f"i:{k}": v for k, v in inputs.items()}, **{f"o:{k}": v for k, v in outputs.items()})
        # Four samples of every input, as calibration data.
        draw = numpy.random.default_rng(2)
        samples = {}
        for one in session.get_inputs():
            value = inputs[one.name]
            shape = (4 * value.shape[0], *value.shape[1:]) if value.shape else (4,)  # samples fill the first axis
            values = draw.standard_normal(shape) if value.dtype.kind == "f" else draw.integers(0, 2, shape)
            samples[one.name] = numpy.asarray(values).astype(value.dtype)
        try:
            numpy.savez(request["keep"] + ".data.npz", **samples)
        except Exception:  # a name that is not valid in a file
            pass
    return answer


for line in sys.stdin:
    result = judge(json.loads(line))
    answers.write(json.dumps(result) + "\n")
    answers.flush()
