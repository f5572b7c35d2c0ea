"""runner.cpp for wheels whose library has no C API of use: the probes run in the Interpreter of the wheel.

usage: run_python.py PROBES > RESULTS     in a Python environment with one release of ai-edge-litert
"""
import os
import struct
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter

RUNS, REFUSED, FAILS, CRASHES = 0, 1, 2, 3


def run(model, inputs):
    try:
        interpreter = Interpreter(model_content=model, num_threads=1)
        interpreter.allocate_tensors()
    except (ValueError, RuntimeError):
        return REFUSED, 2, []
    delegated = 2
    try:
        delegated = int(all(op["op_name"] == "DELEGATE" for op in interpreter._get_ops_details()[-1:]))
        for detail, given in zip(interpreter.get_input_details(), inputs):
            interpreter.set_tensor(detail["index"], np.frombuffer(given, detail["dtype"]).reshape(detail["shape"]))
        interpreter.invoke()
        outputs = [np.ascontiguousarray(interpreter.get_tensor(detail["index"])).tobytes() for detail in interpreter.get_output_details()]
    except (ValueError, RuntimeError):
        return FAILS, delegated, []
    return RUNS, delegated, outputs


def packed(outcome, delegated, outputs):
    return struct.pack("<BBI", outcome, delegated, len(outputs)) + b"".join(struct.pack("<Q", len(data)) + data for data in outputs)


def apart(model, inputs):
    """In a process of its own, which may crash."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(packed(*run(model, inputs)))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        result = pipe.read()
    _, status = os.waitpid(child, 0)
    return result if status == 0 else packed(CRASHES, 2, [])


def main():
    data, at = open(sys.argv[1], "rb").read(), 4

    def take():
        nonlocal at
        (size,) = struct.unpack_from("<Q", data, at)
        at += 8 + size
        return data[at - size:at]

    for _ in range(struct.unpack_from("<I", data)[0]):
        model = take()
        (count,) = struct.unpack_from("<I", data, at)
        at += 4
        sys.stdout.buffer.write(apart(model, [take() for _ in range(count)]))


main()
