#!/usr/bin/env python3
"""Writes docs/reference/failure-modes.md: the formats that each runtime version runs, from the support matrix in the program.

usage: failure_map.py OUNCE --example FOLDER [--check FILE | --write FILE]     exit 1: the file is not current

The embedded example is quantized in each format and checked by `ounce check`, whose data was measured with the libraries.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "cli"))
from onnx_bytes import INT8, attribute, floats_of, graph, model, node, tensor, value  # noqa: E402

OF_OTHERS = "dynamic Convs with signed weights, as `onnxruntime.quantization` writes them"
APPROACHES = {
    "w8: 8-bit weights, dequantized at load": ["--to", "w8"],
    "w8, DequantizeLinear (`--decode dq`)": ["--to", "w8", "--decode", "dq"],
    "w4: 4-bit weights": ["--to", "w4"],
    "w16: 16-bit weights": ["--to", "w16"],
    "int8, Q/DQ": ["--to", "int8", "--no-search", "--on", "none"],
    "int8, integer ops (`--dialect qoperator`)": ["--to", "int8", "--no-search", "--on", "none", "--dialect", "qoperator"],
    "int8, signed activations (`--activations s8`)": ["--to", "int8", "--no-search", "--on", "none", "--activations", "s8"],
    "int8-dynamic": ["--to", "int8-dynamic", "--on", "none"],
    "int8-dynamic with Convs (`--dynamic-conv`)": ["--to", "int8-dynamic", "--on", "none", "--dynamic-conv", "--allow-slower"],
    OF_OTHERS: None,
    "nbits4: MatMulNBits": ["--to", "nbits4"],
    "fp16": ["--to", "fp16"],
    "bf16": ["--to", "bf16"],
}
PLATFORMS = {"x64": "linux-x64", "arm64": "linux-arm64", "wasm": "ort-web"}
OF_GUIDES = "1.22.0"
SIGNS = {"runs": "✓", "slow": "slow", "unknown": "?", "wrong": "**wrong**", "not_implemented": "**does not load**", "fails": "**fails**"}

HEAD = """# Support by runtime version

This page shows which format runs in which release of ONNX Runtime, for the network of `examples/commands` (Conv, Relu, Gemm,
pooling; one Conv in the row of `onnxruntime.quantization`). Other models may have other ops: run `ounce check` on yours.
`tools/failure_map.py` generates the tables from measurements of the libraries, the data of `ounce check`; do not edit them.

| sign | meaning |
|---|---|
| ✓ | runs |
| slow | right results, but cast, decomposed or dequantized on every run |
| **does not load** | no kernel, or an opset that the release does not know |
| **wrong** | loads, and computes other numbers |
| ? | not measured |
| – | no such form in the opset of this network |
"""

FOOT = """
## Common causes of failures

- **An opset that the release does not know.** 4-bit weights with DequantizeLinear, and bfloat16, need a newer opset than that of most
  apps.
- **A type that an op has no kernel for.** ConvInteger takes signed weights from 1.24 on (MatMulInteger: since 1.14). QLinearConv never
  takes signed activations with unsigned weights. Models that fail "only on the phone" fail because of the release, not because of arm64.
- **Missing fusions.** Q/DQ around an op that a release does not fuse gives right results, slowly.
- **Saturating sums.** On x64 without VNNI, sums of two 8-bit products saturate
  ([INT8 inference](../explanation/integer.md#the-same-on-every-cpu)).

`ounce quantize --target android-arm64@1.22.0` writes nothing that the target lacks.
"""


def signed_convolution():
    """A Conv as `quantize_dynamic` of ONNX Runtime writes it; Ounce writes unsigned weights there."""
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
             node("ConvInteger", ["q", "w", "zero", "w_zero"], ["sum"]),
             node("Cast", ["sum"], ["floats"], [attribute("to", 1)]),
             node("Mul", ["scale", "w_scale"], ["both"]),
             node("Mul", ["floats", "both"], ["y"])]
    weights = [tensor("w", [4, 4, 3], bytes(range(48)), INT8), tensor("w_zero", [], bytes(1), INT8), tensor("w_scale", [], floats_of([0.01]))]
    return model(graph(nodes, [value("x", [1, 4, 16])], [value("y", [1, 4, 14])], weights))


def run(ounce, folder, *words):
    return subprocess.run([ounce, *words], cwd=folder, capture_output=True, text=True)


def releases(ounce, folder):
    """The measured versions of ONNX Runtime on each platform; those of other runtimes have a prefix, such as litert-2.3.0."""
    versions = {}
    for line in run(ounce, folder, "check", "--releases").stdout.splitlines():
        platform, version = line.split()
        if version[0].isdigit():
            versions.setdefault(platform, []).append(version)
    return versions


def table(ounce, example):
    with tempfile.TemporaryDirectory(prefix="ounce-map-") as name:
        folder = pathlib.Path(name)
        for source, to in (("commands.onnx", "model.onnx"), ("commands_calib.npz", "calib.npz")):
            (folder / to).write_bytes((example / source).read_bytes())
        versions = releases(ounce, folder)
        columns = [(platform, version) for platform in PLATFORMS for version in chosen(versions.get(platform, []))]
        rows = {}
        for approach, words in APPROACHES.items():
            if approach == OF_OTHERS:
                (folder / "small.onnx").write_bytes(signed_convolution())
            else:
                data = ["--data", "calib.npz", "--rescale", "1/32768"] if "int8" in words else []
                run(ounce, folder, "quantize", "model.onnx", "-o", "small.onnx", *words, *data)
            if not (folder / "small.onnx").exists():
                rows[approach] = {column: "–" for column in columns}
                continue
            targets = ",".join(f"{PLATFORMS[platform]}@{version}" for platform, version in columns)
            answers = json.loads(run(ounce, folder, "check", "small.onnx", "--target", targets, "--json").stdout)["results"][0]["targets"]
            rows[approach] = {column: SIGNS[answer["verdict"]] for column, answer in zip(columns, answers)}
            (folder / "small.onnx").unlink()
    parts = []
    for platform in PLATFORMS:
        own = [column for column in columns if column[0] == platform]
        lines = [f"| {platform} | " + " | ".join(version for _, version in own) + " |", "|---" * (len(own) + 1) + "|"]
        lines += [f"| {approach} | " + " | ".join(cells[column] for column in own) + " |" for approach, cells in rows.items()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def chosen(versions):
    """About eight of them, the oldest and the newest among them, and the one that the guides are about."""
    versions = sorted(set(versions), key=lambda version: [int(part) for part in version.split(".")])
    if len(versions) <= 8:
        return versions
    places = {round(i * (len(versions) - 1) / 7) for i in range(8)}
    if OF_GUIDES in versions:
        places.add(versions.index(OF_GUIDES))
    return [versions[i] for i in sorted(places)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("ounce", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--example", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--check", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    text = HEAD + "\n" + table(arguments.ounce, arguments.example) + "\n" + FOOT
    if arguments.write:
        arguments.write.write_text(text)
    elif arguments.check:
        if arguments.check.read_text() != text:
            print(f"{arguments.check} is not current: python3 tools/failure_map.py build/ounce --example examples/commands --write docs/reference/failure-modes.md")
            return 1
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
