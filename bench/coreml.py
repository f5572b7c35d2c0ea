#!/usr/bin/env python3
"""Quantizes Core ML packages with Ounce and with coremltools, and compares size, weights, outputs, CPU time and memory.

usage: OUNCE_ZOO=… coreml.py OUNCE DECODE PACKAGE… [--methods w8,w4] [--samples 16] [--baseline FOLDER] [--no-baseline]

OUNCE is the program, DECODE the test program coreml_decode (ninja coreml_decode). coremltools 9 must be importable by
the Python that runs this.

Checks of each output of Ounce; the exit code is 1 if one fails:
- coremltools loads it, with the specification and with the MIL front end, which rebuilds the program;
- the weights that coremltools decompresses equal those that Ounce dequantizes, in every bit.

Figures, one line for each package and method, Ounce's before the baseline's: bytes of the package; SQNR of the compressed
weights relative to their tensors, of all together, and of the worst tensor (tensors that both compressed); SQNR of the outputs, which Ounce's evaluator computes on
validation data (the output with the lowest SQNR); CPU seconds of the whole process with one thread, including
imports; peak memory. `--baseline` keeps the packages of coremltools with their CPU seconds and memory for later runs.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

from coreml_evaluator import DATA, data_options

# Methods of both: Ounce's options, and the baseline's configuration. "data": with calibration data.
METHODS = {
    "w8": (["--to", "w8"], "int8 channel"),
    "w4": (["--to", "w4", "--granularity", "block:32"], "int4 block"),
    "w4-zero-sum": (["--to", "w4", "--expert", "rounding=zero-sum"], "int4 block"),
    "w4-nearest": (["--to", "w4", "--expert", "rounding=nearest"], "int4 block"),
    "w4-data": (["--to", "w4", "--expert", "rounding=adaptive", "data"], "int4 block"),
    "palette8": (["--to", "w8", "--codebook", "--granularity", "tensor", "--target", "TARGET"], "palette 8"),
    "palette6": (["--to", "w6", "--granularity", "tensor", "--target", "TARGET"], "palette 6"),
    "palette4": (["--to", "w4", "--codebook", "--granularity", "tensor", "--target", "TARGET"], "palette 4"),
    "palette3": (["--to", "w3", "--granularity", "tensor", "--target", "TARGET"], "palette 3"),
    "palette2": (["--to", "w2", "--granularity", "tensor", "--target", "TARGET"], "palette 2"),
    "palette1": (["--to", "w1", "--granularity", "tensor", "--target", "TARGET"], "palette 1"),
    "palette4-grouped": (["--to", "w4", "--codebook", "--granularity", "block:16", "--target", "ios18+ane"],
                         "palette 4 grouped"),
    "palette4-auto": (["--to", "w4", "--codebook", "--target", "ios18"], "palette 4"),
    "palette4-scaled": (["--to", "w4", "--codebook", "--target", "ios18+gpu"], "palette 4"),
}
MASK = 1e3  # constants with such values are attention masks, which would hide all errors
OLDEST = {7: "ios16", 8: "ios17", 9: "ios18", 10: "ios26"}


def peer_main(package, output, method):
    """Compresses with coremltools; runs in a separate process."""
    import coremltools as ct
    import coremltools.optimize.coreml as cto

    model = ct.models.MLModel(str(package), skip_model_load=True)
    if method.startswith("int"):
        options = {"mode": "linear_symmetric", "dtype": method.split()[0]}
        if method.endswith("block"):
            options |= {"granularity": "per_block", "block_size": 32}
        config = cto.OptimizationConfig(global_config=cto.OpLinearQuantizerConfig(**options))
        result = cto.linear_quantize_weights(model, config)
    else:
        options = {"mode": "kmeans", "nbits": int(method.split()[1])}
        if method.endswith("grouped"):
            options |= {"granularity": "per_grouped_channel", "group_size": 16}
        result = cto.palettize_weights(model, cto.OptimizationConfig(global_config=cto.OpPalettizerConfig(**options)))
    result.save(str(output))


def version_of(package):
    import coremltools as ct

    return ct.models.MLModel(str(package), skip_model_load=True).get_spec().specificationVersion


def size_of(package):
    return sum(file.stat().st_size for file in package.rglob("*") if file.is_file())


def program_of(package):
    """The MIL program that coremltools makes from a package."""
    import coremltools as ct
    from coremltools.converters.mil.frontend.milproto import load

    model = ct.models.MLModel(str(package), skip_model_load=True)
    spec = model.get_spec()
    return load.load(spec, spec.specificationVersion, file_weights_dir=model.weights_dir)


def constants(package):
    """Output name → values, of constants and of compressed weights as coremltools decompresses them."""
    program = program_of(package)
    plain, compressed = {}, {}
    for function in program.functions.values():
        for operation in function.operations:
            if operation.op_type.startswith("constexpr_"):
                value = operation.materialized_val_inference()
                compressed[operation.outputs[-1].name] = numpy.asarray(value[-1] if isinstance(value, tuple) else value)
            elif operation.op_type == "const" and isinstance(operation.outputs[0].val, numpy.ndarray):
                plain[operation.outputs[0].name] = operation.outputs[0].val
    return plain, compressed


def decoded_by_ounce(decode, package, folder):
    names = subprocess.run([decode, package, folder], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
    return {name: (folder / str(number)).read_bytes() for number, name in enumerate(names)}


def renamed(compressed):
    """Matches weights by the names of the constants, to which coremltools appends suffixes."""
    return {re.sub("_(quantized|palettized|sparsified)$", "", name): values for name, values in compressed.items()}


def sqnr(source, values):
    source, values = source.astype(numpy.float64), values.astype(numpy.float64)
    return (source ** 2).sum(), ((source - values) ** 2).sum()


def decibel(signal, noise):
    return float("inf") if noise == 0 else 10 * numpy.log10(signal / noise)


def figures(plain, compressed, names):
    """SQNR with equal weight for each value, relative to its tensor; SQNR of all values together; of the worst tensor."""
    pairs = [sqnr(plain[name], compressed[name]) for name in names if numpy.abs(plain[name]).max() < MASK]
    names = [name for name in names if numpy.abs(plain[name]).max() < MASK]
    if not pairs:
        return (float("nan"),) * 3
    sizes = numpy.array([plain[name].size for name in names], dtype=float)
    noise = sum(size * noise / signal for size, (signal, noise) in zip(sizes, pairs))
    return (decibel(sizes.sum(), noise), decibel(sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)),
            min(decibel(*pair) for pair in pairs))


# Runs a program from a small process: the kernel counts the memory of the process that starts a program as its own.
LAUNCH = """
import json, os, sys
pid = os.spawnvp(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    json.dump([usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)], file)
"""


def run_measured(command, environment):
    """Runs a program. Returns its CPU seconds, its peak memory in MB, and its exit code and messages."""
    with tempfile.NamedTemporaryFile() as usage:
        made = subprocess.run([sys.executable, "-S", "-c", LAUNCH, usage.name, *map(str, command)], env=environment,
                              capture_output=True, text=True)
        return *json.load(usage), (made.stdout + made.stderr).strip()


def output_sqnr(arguments, package, result):
    """SQNR of the worst output on validation data, in dB."""
    zoo = os.environ.get("OUNCE_ZOO")
    if not zoo or package.stem.rsplit("_", 2)[0] not in DATA:
        return float("nan")
    samples = min(arguments.samples, 4) if package.stem.startswith(("gpt", "detector")) else arguments.samples
    made = subprocess.run([arguments.ounce, "verify", package, result, *data_options(pathlib.Path(zoo), package, False),
                           "--samples", str(samples), "--json"], capture_output=True, text=True)
    try:
        return min(output["sqnr_db"] for output in json.loads(made.stdout)["results"][0]["outputs"])
    except (ValueError, KeyError, IndexError, TypeError):
        return float("nan")


def options_of(arguments, package, method, version):
    options, baseline_method = METHODS[method]
    options = [OLDEST.get(max(version, 7), "ios18") if word == "TARGET" else word for word in options]
    if "data" in options:
        options.remove("data")
        options += data_options(pathlib.Path(os.environ["OUNCE_ZOO"]), package, True)
    return options, baseline_method


def make_baseline(arguments, package, method, temporary, environment):
    """The package that coremltools makes, its CPU seconds and peak memory; None if it fails."""
    folder = pathlib.Path(arguments.baseline) if arguments.baseline else temporary
    output = folder / f"{package.stem}.{method.replace(' ', '_')}.mlpackage"
    figures_file = output.with_suffix(".json")
    if not figures_file.exists():
        seconds, memory, code, _ = run_measured([sys.executable, __file__, "--peer", package, output, method], environment)
        figures_file.write_text(json.dumps([seconds, memory] if code == 0 else None))
    figures_of_run = json.loads(figures_file.read_text())
    return (output, *figures_of_run) if figures_of_run else None


def compare(arguments, package, plain, version, method, temporary, environment):
    """Prints one line. Returns the number of failures."""
    failures = 0
    options, baseline_method = options_of(arguments, package, method, version)
    output = temporary / "ounce.mlpackage"
    seconds, memory, code, text = run_measured(
        [arguments.ounce, "quantize", package, "-o", output, "--threads", "1", "--no-verify", *options], environment)
    if code != 0:
        print(f"{package.stem:24} {method:16} refused: {text.splitlines()[-1]}", flush=True)
        return 0
    _, compressed = constants(output)
    ours = decoded_by_ounce(arguments.decode, output, temporary / "decoded")
    for name, values in compressed.items():
        if ours.get(name) != values.tobytes():
            print(f"{package.stem} {method}: '{name}' has other values in coremltools")
            failures += 1
    failures += set(ours) != set(compressed)
    baseline = None if arguments.no_baseline else make_baseline(arguments, package, baseline_method, temporary, environment)
    theirs = renamed(constants(baseline[0])[1]) if baseline else {}
    names = [name for name in compressed if name in plain and (not theirs or name in theirs)]
    columns = [(size_of(output), *figures(plain, compressed, names), output_sqnr(arguments, package, output), seconds, memory)]
    columns.append((size_of(baseline[0]), *figures(plain, theirs, names), output_sqnr(arguments, package, baseline[0]),
                    *baseline[1:]) if baseline else (0, *[float("nan")] * 6))
    cells = "".join(f"{a:>{width}.{digits}f} {b:>{width}.{digits}f}  "
                    for (width, digits), a, b in zip(((9, 0), (6, 2), (6, 2), (6, 2), (6, 2), (7, 2), (6, 0)), *columns))
    print(f"{package.stem:24} {method:16} {cells}{len(compressed)}, baseline {len(theirs)}", flush=True)
    return failures


def run(arguments):
    failures = 0
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    if arguments.baseline:
        pathlib.Path(arguments.baseline).mkdir(parents=True, exist_ok=True)
    print(f"{'package':24} {'method':16} {'bytes':>9} {'baseline':>9}  {'weights, dB':>13}  {'all, dB':>13}  {'worst, dB':>13}  "
          f"{'outputs, dB':>13}  {'CPU seconds':>15}  {'memory, MB':>13}  tensors")
    for package in map(pathlib.Path, arguments.packages):
        plain, _ = constants(package)
        version = version_of(package)
        for method in arguments.methods.split(","):
            with tempfile.TemporaryDirectory() as temporary:
                failures += compare(arguments, package, plain, version, method, pathlib.Path(temporary), environment)
    return 1 if failures else 0


def main():
    if sys.argv[1:2] == ["--peer"]:
        return peer_main(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ounce")
    parser.add_argument("decode")
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--methods", default="w8,w4")
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--baseline", help="folder that keeps the packages of coremltools")
    parser.add_argument("--no-baseline", action="store_true")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
