#!/usr/bin/env python3
"""Quantizes the .tflite models of tflite_models.py with ai-edge-quantizer, the baseline of tflite.py.

usage: OUNCE_ZOO=… OUNCE_MEDIAPIPE=… bench/tflite_peer.py FOLDER [--models kws …] [--recipes int8 …] [--again]

Needs ai-edge-quantizer, ai-edge-litert, numpy and pillow (pip). For each model it writes FOLDER/MODEL/fixed.tflite, a form that
ai-edge-quantizer can quantize: FP16 and sparse weights as FP32, both fields of operator codes, a signature, no unused tensors.
(It leaves the published files unchanged.) Then for each recipe it writes MODEL/RECIPE.tflite and MODEL/RECIPE.json: CPU seconds
without and with Python's imports, peak memory, size, or the error. Each recipe runs once, in a separate process.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

RECIPES = {"w8": "weight_only_wi8_afp32", "int8-dynamic": "dynamic_wi8_afp32", "int8": "static_wi8_ai8", "w4": "weight_only_wi4_afp32",
           "int4-dynamic": "dynamic_wi4_afp32"}


def fix(source, target):
    """Writes a file that the baseline can quantize; see above."""
    import flatbuffers
    import numpy as np
    from ai_edge_litert import schema_py_generated as s
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    content = source.read_bytes()
    model = s.ModelT.InitFromPackedBuf(content, 0)
    for code in model.operatorCodes:
        code.builtinCode = max(code.builtinCode, code.deprecatedBuiltinCode)
    graph = model.subgraphs[0]

    def code_of(op):
        return model.operatorCodes[op.opcodeIndex].builtinCode

    def is_constant(index):
        data = model.buffers[graph.tensors[index].buffer].data
        return data is not None and len(data) > 0

    decoders = (s.BuiltinOperator.DEQUANTIZE, s.BuiltinOperator.DENSIFY)
    folded, dropped = set(), []
    for op in graph.operators:
        if code_of(op) in decoders and (is_constant(op.inputs[0]) or op.inputs[0] in folded):
            folded.add(op.outputs[0])
            dropped.append(op)
    values = {}
    for op in dropped:
        source_tensor = graph.tensors[op.inputs[0]]
        if source_tensor.type == s.TensorType.FLOAT16 and is_constant(op.inputs[0]) and not source_tensor.sparsity:
            values[op.outputs[0]] = np.frombuffer(model.buffers[source_tensor.buffer].data.tobytes(), np.float16).astype(np.float32)
    if rest := [i for i in folded if graph.tensors[i].type == s.TensorType.FLOAT32 and i not in values]:  # sparse ones
        interpreter = Interpreter(model_content=content, experimental_preserve_all_tensors=True,
                                  experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        interpreter.allocate_tensors()
        interpreter.invoke()
        values |= {index: interpreter.get_tensor(index).copy() for index in rest}
    graph.operators = [op for op in graph.operators if not any(op is d for d in dropped)]
    for index, array in values.items():
        buffer = s.BufferT()
        buffer.data = np.frombuffer(array.tobytes(), np.uint8)
        graph.tensors[index].buffer = len(model.buffers)
        model.buffers.append(buffer)
    used = {int(i) for op in graph.operators for i in (*op.inputs, *op.outputs) if i >= 0} | {int(i) for i in (*graph.inputs, *graph.outputs)}
    place = {old: new for new, old in enumerate(sorted(used))}
    graph.tensors = [graph.tensors[i] for i in sorted(used)]
    for op in graph.operators:
        op.inputs = [place[int(i)] if i >= 0 else -1 for i in op.inputs]
        op.outputs = [place[int(i)] for i in op.outputs]
    graph.inputs, graph.outputs = ([place[int(i)] for i in x] for x in (graph.inputs, graph.outputs))
    for signature in model.signatureDefs or []:
        for entry in (*signature.inputs, *signature.outputs):
            entry.tensorIndex = place[entry.tensorIndex]
    if not model.signatureDefs:
        def maps(indices):
            found = []
            for index in indices:
                entry = s.TensorMapT()
                entry.name, entry.tensorIndex = graph.tensors[index].name, index
                found.append(entry)
            return found
        signature = s.SignatureDefT()
        signature.signatureKey, signature.subgraphIndex = b"serving_default", 0
        signature.inputs, signature.outputs = maps(graph.inputs), maps(graph.outputs)
        model.signatureDefs = [signature]
    kept = {t.buffer for t in graph.tensors} | {m.buffer for m in model.metadata or []}
    for i, buffer in enumerate(model.buffers):
        if i not in kept:
            buffer.data = None
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    target.write_bytes(builder.Output())


def peak_mb():
    """Peak memory of this process; getrusage() would include that of its parent."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def one(name, recipe, where):
    """Runs a recipe in this process, and prints the result as JSON."""
    result = {"model": name, "recipe": recipe}
    begin = time.process_time()
    from ai_edge_quantizer import quantizer as aeq
    from ai_edge_quantizer import recipe as recipes
    result["import_cpu_s"] = time.process_time() - begin
    result["import_peak_mb"] = peak_mb()
    source, target = where / "fixed.tflite", where / f"{recipe}.tflite"
    samples = None
    if recipe == "int8":
        import numpy as np
        import tflite_runner
        session = tflite_runner.Session(source)
        data = dict(np.load(where / "calibration.npz"))
        names, arrays = session.input_names(), tflite_runner.ordered(session.input_names(), data)
        kinds = [d["dtype"] for d in session.inputs]
        samples = [{n: a[i:i + 1].astype(k) for n, a, k in zip(names, arrays, kinds)} for i in range(len(arrays[0]))]
        key = next(iter(session.interpreter.get_signature_list()))
        del session
    begin = time.process_time()
    try:
        quantizer = aeq.Quantizer(str(source), getattr(recipes, RECIPES[recipe])())
        found = None
        if quantizer.need_calibration:
            found = quantizer.calibrate({key: samples}, num_threads=1)
        made = quantizer.quantize(found)
        made.export_model(str(target), overwrite=True)
        result["bytes"] = target.stat().st_size
    except Exception as error:  # any error is a result
        result["error"] = f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"
    result["cpu_s"] = time.process_time() - begin
    result["peak_mb"] = peak_mb()
    print(json.dumps(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), choices=list(RECIPES))
    parser.add_argument("--again", action="store_true", help="also make existing files again")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return one(*options.one, options.folder / options.one[0])
    import tflite_models
    for model in tflite_models.models(options.models):
        where = options.folder / model.name
        where.mkdir(parents=True, exist_ok=True)
        fixed = where / "fixed.tflite"
        if options.again or not fixed.exists():
            try:
                fix(model.path, fixed)
            except Exception as error:
                print(f"{model.name}: cannot be prepared: {str(error).splitlines()[0]}", flush=True)
                continue
        has_data = model.runs and tflite_models.write_data(model, where)
        for recipe in options.recipes:
            row = where / f"{recipe}.json"
            if row.exists() and not options.again or recipe == "int8" and not has_data:
                continue
            words = [sys.executable, __file__, str(options.folder), "--one", model.name, recipe]
            done = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"})
            lines = done.stdout.strip().splitlines()
            text = lines[-1] if done.returncode == 0 and lines else json.dumps(
                {"model": model.name, "recipe": recipe, "error": f"exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"})
            row.write_text(text + "\n")
            print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
