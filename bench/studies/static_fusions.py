#!/usr/bin/env python3
"""Prints the ops of a quantized model after ONNX Runtime's optimizations, including the remaining Q/DQ.

usage: bench/studies/static_fusions.py MODEL …       needs onnx and onnxruntime (pip)
"""

import collections
import sys
import tempfile

import onnx
import onnxruntime as ort

for path in sys.argv[1:]:
    with tempfile.NamedTemporaryFile(suffix=".onnx") as optimised:
        options = ort.SessionOptions()
        options.optimized_model_filepath = optimised.name
        options.log_severity_level = 3
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        ops = collections.Counter(node.op_type for node in onnx.load(optimised.name).graph.node)
    print(path, ", ".join(f"{count} {op}" for op, count in ops.most_common()))
