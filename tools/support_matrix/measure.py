#!/usr/bin/env python3
"""Runs every probe in every library and writes support.txt.

    measure.py --libraries DIR --headers DIR --scratch DIR [--emulator QEMU] [--sysroot DIR] [--only VERSION …]

Results are kept in the scratch folder, by the digest of the probe: a rerun continues, and after a change of some
probes runs only those. README.md says what the characters mean.
"""
import argparse
import datetime
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from onnx import helper

import numpy as np
import support_file
from fusions import fusion_probes
from libraries import Place, Results, columns_of
from probe import Key, Probe, tensor_info
from probes import all_probes
from reference import agree, expected, parse_outputs
from schemas import schemas

NOT_IMPLEMENTED = "load:9"
LIMITS = {"opset": range(7, 31), "ml": range(1, 9), "ir": range(3, 17)}   # the versions to try


def limit_probe(opset=13, ml=1, ir=8):
    """A model that any release can run, if it accepts the numbers on it."""
    node = helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml") if ml > 1 else helper.make_node(
        "Relu", ["x"], ["y"])
    graph = helper.make_graph([node], "limit", [tensor_info("x", "float", [2])], [tensor_info("y", "float", [2])])
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("ai.onnx.ml", ml)] if ml > 1 else [])
    model = helper.make_model(graph, ir_version=ir, opset_imports=opsets)
    return Probe(Key("limit", f"{opset}/{ml}", ir, ()), model, {"x": np.zeros(2, np.float32)})


def limit_probes():
    return {name: [limit_probe(**{name: number}) for number in numbers] for name, numbers in LIMITS.items()}


def runs_in_its_own_kernel(probe, operators):
    """'+' in a kernel of its own type, '~' with casts around it, 'f' as the operators it is made of."""
    written = [node.op_type for node in probe.model.graph.node]
    ran = [name.rsplit(".", 1)[-1] for name in operators]
    own = probe.key.op
    if own in ("Cast", "CastLike"):
        return "+" if len(ran) <= 1 else "~"
    if any(name.endswith(own) for name in ran) or len(ran) <= len(written):
        return "~" if ran.count("Cast") > written.count("Cast") else "+"
    return "f"


def character(probe, result, reference):
    if result is None:
        return "?"
    kind = result.status.split(":")[0]
    if result.status == NOT_IMPLEMENTED:
        return "-"
    if kind != "ok":
        return {"load": "x", "run": "r", "crash": "c", "untold": "?"}[kind]
    if reference is None:
        return "="
    right = agree(parse_outputs(result.outputs), reference, probe)
    return runs_in_its_own_kernel(probe, result.operators) if right else "!"


def with_domains(operators):
    """The operators of a profile, which has no domains: operators that ai.onnx lacks count as com.microsoft's, and so does a
    QLinearConv that was put behind a Transpose, for it takes the channels last."""
    known = {schema.name for schema in schemas() if schema.domain == "ai.onnx"}
    return [f"com.microsoft.{name}" if name not in known or (before, name) == ("Transpose", "QLinearConv") else name
            for before, name in zip([""] + operators, operators)]


def became(result, machine):
    """The nodes that remain of a pattern."""
    if result.status != "ok":
        return result.status.split(":")[0]
    operators = with_domains(result.operators) if machine == "wasm" else result.operators
    return support_file.abridged(operators) or "nothing"


def with_limits(column, results, limits):
    """The column with the highest numbers that its library accepts."""
    def highest(name):
        return max([number for number, probe in zip(LIMITS[name], limits[name])
                    if results.known[probe.digest()].status == "ok"], default=0)
    return replace(column, **{name: highest(name) for name in LIMITS})


def arguments_parser():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--emulator", default="qemu-aarch64")
    parser.add_argument("--sysroot", default="/usr/aarch64-linux-gnu")
    parser.add_argument("--only", nargs="*", default=[], help="these versions, or columns such as \"x64 1.22.0\"")
    return parser


def place_of(arguments):
    return Place(arguments.libraries, arguments.headers, arguments.scratch, arguments.emulator, arguments.sysroot)


def measure_all(place, columns, probes, jobs=1):
    """column -> its Results, with every probe in it."""
    digests = [probe.digest() for probe in probes]

    def one(column):
        results = Results(place, column)
        results.measure(probes, digests)
        print(f"measured {column}", flush=True)
        return results
    for machine in {column.machine for column in columns}:
        place.runner(machine)
    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(columns, pool.map(one, columns)))


def main():
    parser = arguments_parser()
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("support.txt"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    arguments = parser.parse_args()
    place = place_of(arguments)
    columns = [c for c in columns_of(place) if not arguments.only or {c.version, str(c)} & set(arguments.only)]

    probes, fusions, limits = all_probes(), fusion_probes(), limit_probes()
    results = measure_all(place, columns, probes + fusions + sum(limits.values(), []), arguments.jobs)

    table = {}
    for probe in probes:
        digest, reference = probe.digest(), None
        said = [results[column].known[digest] for column in columns]
        if any(result.status == "ok" for result in said):
            reference = expected(probe)
        table[probe.key] = "".join(character(probe, result, reference) for result in said)
    fused = {}
    for probe in fusions:
        fused[probe.key] = [became(results[column].known[probe.digest()], column.machine) for column in columns]
    columns = [with_limits(column, results[column], limits) for column in columns]
    support_file.write(arguments.output, arguments.date, columns, table, fused)
    print(f"{len(table)} keys, {len(fused)} fusions, {len(columns)} columns")


if __name__ == "__main__":
    main()
