#!/usr/bin/env python3
"""Quantizes Core ML packages with Ounce and with coremltools, and compares bytes, weights and CPU time.

usage: coreml.py OUNCE DECODE PACKAGE… [--methods w8,w4] [--no-peer]

OUNCE is the program, DECODE the test program coreml_decode (ninja coreml_decode). coremltools 9 must be importable by
the Python that runs this.

Checks of each output of Ounce; the exit code is 1 if one fails:
- coremltools loads it, with the specification and with the MIL front end, which rebuilds the program;
- the weights that coremltools decompresses equal those that Ounce dequantizes, in every bit.

Figures, one line for each package and method: bytes of the package; SQNR of all compressed weights and of the worst tensor;
CPU seconds of the whole process with one thread (for coremltools including imports).
A tensor counts if both compressed it.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import numpy

# Methods of both: Ounce's options, and the baseline's configuration.
METHODS = {
    "w8": (["--to", "w8"], "int8 channel"),
    "w8-nearest": (["--to", "w8", "--rounding", "nearest"], "int8 channel"),
    "w4": (["--to", "w4"], "int4 block"),
    "w4-nearest": (["--to", "w4", "--rounding", "nearest"], "int4 block"),
    "palette8": (["--to", "w8", "--codebook"], "palette 8"),
    "palette4": (["--to", "w4", "--codebook"], "palette 4"),
    "palette4-grouped": (["--to", "w4", "--target", "ios18+ane"], "palette 4 grouped"),
}


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
    pairs = [sqnr(plain[name], compressed[name]) for name in names]
    if not pairs:
        return float("nan"), float("nan")
    # Each tensor is weighted by its number of values, relative to its own signal: a mask of -1e4 must not hide the others.
    sizes = numpy.array([plain[name].size for name in names], dtype=float)
    noise = sum(size * noise / signal for size, (signal, noise) in zip(sizes, pairs))
    return decibel(sizes.sum(), noise), min(decibel(*pair) for pair in pairs)


def cpu_seconds(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, result


def run(arguments):
    failures = 0
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    print(f"{'package':32} {'method':17} {'bytes':>9} {'baseline':>9} {'dB':>6} {'base':>6} {'worst':>6} {'base':>6} "
          f"{'CPU s':>6} {'base':>6}  weights")
    for package in map(pathlib.Path, arguments.packages):
        plain, _ = constants(package)
        for method in arguments.methods.split(","):
            options, peer_method = METHODS[method]
            with tempfile.TemporaryDirectory() as temporary:
                temporary = pathlib.Path(temporary)
                output, peer_output = temporary / "ounce.mlpackage", temporary / "peer.mlpackage"
                seconds, result = cpu_seconds([arguments.ounce, "quantize", package, "-o", output, "--threads", "1",
                                               *options], environment)
                if result.returncode != 0:
                    print(f"{package.stem:32} {method:17} refused: {result.stderr.strip().splitlines()[-1]}")
                    continue
                _, compressed = constants(output)
                ours = decoded_by_ounce(arguments.decode, output, temporary / "decoded")
                for name, values in compressed.items():
                    if ours.get(name) != values.tobytes():
                        print(f"{package.stem} {method}: '{name}' has other values in coremltools")
                        failures += 1
                failures += set(ours) != set(compressed)
                peer = [sys.executable, __file__, "--peer", package, peer_output, peer_method]
                peer_seconds, peer_result = (0, None) if arguments.no_peer else cpu_seconds(peer, environment)
                peer_compressed = renamed(constants(peer_output)[1]) if peer_output.exists() else {}
                names = [name for name in compressed if not peer_compressed or name in peer_compressed]
                all_db, worst = figures(plain, compressed, names)
                peer_db, peer_worst = figures(plain, peer_compressed, [n for n in names if n in peer_compressed])
                peer_bytes = size_of(peer_output) if peer_output.exists() else 0
                print(f"{package.stem:32} {method:17} {size_of(output):9} {peer_bytes:9} {all_db:6.2f} {peer_db:6.2f} "
                      f"{worst:6.2f} {peer_worst:6.2f} {seconds:6.2f} {peer_seconds:6.2f}  "
                      f"{len(compressed)}, baseline {len(peer_compressed)}", flush=True)
    return 1 if failures else 0


def main():
    if sys.argv[1:2] == ["--peer"]:
        return peer_main(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ounce")
    parser.add_argument("decode")
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--methods", default="w8,w4")
    parser.add_argument("--no-peer", action="store_true")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
