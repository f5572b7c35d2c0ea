"""The expected outputs of a probe, and their comparison."""
import warnings

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

import element_types
import reference_contrib
import reference_onnx

warnings.filterwarnings("ignore")


MODES_SINCE_20 = {b"bilinear": b"linear", b"bicubic": b"cubic"}


def modernised(probe):
    """The model as the reference understands it: GridSample's modes were renamed."""
    if probe.key.op != "GridSample" or probe.key.since >= 20:
        return probe.model
    model = onnx.ModelProto()
    model.CopyFrom(probe.model)
    for attribute in model.graph.node[-1].attribute:
        attribute.s = MODES_SINCE_20.get(attribute.s, attribute.s)
    for opset in model.opset_import:
        opset.version = 20
    return model


def expected(probe):
    """The outputs by the reference; None where it cannot tell."""
    if not probe.checked:
        return None
    try:
        with np.errstate(all="ignore"):
            own = reference_onnx.answer(probe)
            if own is not None:
                return own
            evaluator = ReferenceEvaluator(modernised(probe), new_ops=reference_contrib.ALL)
            return evaluator.run(None, dict(probe.inputs))
    except Exception:  # noqa: BLE001  whatever the reference dies of, it has no answer
        return None


def parse_outputs(text):
    """The output of probe_runner, as arrays and lists of them."""
    stack = [[]]
    for token in text.split():
        if token == "[":
            stack.append([])
        elif token == "]":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(None if token == "none" else parse_tensor(token))
    return stack[0]


def parse_tensor(token):
    number, shape, *data = token.split(":")
    name = element_types.name_of(int(number))
    shape = tuple(int(n) for n in shape.split(",")) if shape else ()
    if name == "string":
        texts = [bytes.fromhex(part).decode(errors="replace") for part in data]
        return np.array(texts, dtype=object).reshape(shape)
    raw = np.frombuffer(bytes.fromhex(data[0]), np.uint8)
    dtype = element_types.numpy_type(name)
    if name in element_types.INT4:
        halves = np.stack([raw & 15, raw >> 4], axis=-1).reshape(-1)[:int(np.prod(shape))].astype(np.int8)
        return (np.where(halves > 7, halves - 16, halves) if name == "int4" else halves).reshape(shape)
    return raw.view(dtype).reshape(shape)


def agree(ours, theirs, probe):
    """Whether the runtime's outputs are the reference's."""
    if isinstance(ours, list) or isinstance(theirs, list):
        return (isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs)
                and all(agree(a, b, probe) for a, b in zip(ours, theirs)))
    if ours is None or theirs is None:
        return True
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        return False
    if ours.dtype == object or theirs.dtype.kind in "OU":
        return ours.astype(str).tolist() == theirs.astype(str).tolist()
    type_ = element_types.of_array(ours)
    if ours.dtype.kind in "iub" or type_ in element_types.INT4:
        return bool(np.all(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)) <= probe.off_by))
    tolerance = probe.tolerance if probe.tolerance is not None else element_types.TOLERANCE.get(type_, 0.13)
    if type_ in ("float16", "bfloat16"):
        tolerance = max(tolerance, element_types.TOLERANCE[type_])
    with np.errstate(all="ignore"):
        real, wanted = ours.astype(np.float64), theirs.astype(np.float64)
        size = np.nanmax(np.abs(np.where(np.isfinite(wanted), wanted, 0)), initial=1.0)
        near = np.abs(real - wanted) <= tolerance * size
    return bool(np.all(near | (real == wanted) | (np.isnan(real) & np.isnan(wanted))))
