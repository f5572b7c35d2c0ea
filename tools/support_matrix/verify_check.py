#!/usr/bin/env python3
"""Holds `ounce check` against the libraries themselves, on probes that support.txt was not made from.

    verify_check.py --ounce build/ounce --libraries DIR --headers DIR --scratch DIR [--seed N] [--sample N] [--only VERSION …]

Each probe is written as a model and checked for every release; the library then loads and runs it. Ends with 1 when
`check` says something else than what happens. "unknown" is no answer and is counted apart.
"""
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import support_file
from measure import arguments_parser, character, measure_all, place_of
from probes import all_probes
from reference import expected

VERDICTS = {"+": "runs", "=": "runs", "~": "slow", "f": "slow", "!": "wrong", "-": "not_implemented",
            "x": "not_implemented", "r": "fails", "c": "fails", "?": "unknown"}
AT_ONCE = 200   # models in one call


def target_of(column):
    machine = support_file.MACHINES[column.machine]
    return f"ort-web@{column.version}" if machine == "wasm" else f"linux-{machine}@{column.version}"


def verdicts(ounce, probes, targets, folder):
    """probe number -> target -> what check says."""
    said = {}
    for first in range(0, len(probes), AT_ONCE):
        paths = []
        for number in range(first, min(first + AT_ONCE, len(probes))):
            path = Path(folder) / f"{number:06}.onnx"
            path.write_bytes(probes[number].model.SerializeToString(deterministic=True))
            paths.append(str(path))
        done = subprocess.run([ounce, "check", *paths, "--target", ",".join(targets), "--json"], capture_output=True, text=True)
        document = json.loads(done.stdout)
        for model in document["results"]:
            said[int(Path(model["model"]).stem)] = {t["target"]: t["verdict"] for t in model["targets"]}
        for error in document["errors"]:
            said[int(Path(error["model"]).stem)] = error["message"]
    return said


def main():
    parser = arguments_parser()
    parser.add_argument("--ounce", required=True)
    parser.add_argument("--support", type=Path, default=Path(__file__).with_name("support.txt"))
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--sample", type=int, default=1000)
    arguments = parser.parse_args()
    columns = [c for c in support_file.read(arguments.support).columns
               if not arguments.only or {c.version, str(c)} & set(arguments.only)]
    targets = {column: target_of(column) for column in columns}

    probes = all_probes(arguments.seed)
    probes = random.Random(arguments.seed).sample(probes, min(arguments.sample, len(probes)))
    results = measure_all(place_of(arguments), columns, probes)
    with tempfile.TemporaryDirectory() as folder:
        said = verdicts(arguments.ounce, probes, list(targets.values()), folder)

    outcome = Counter()
    for number, probe in enumerate(probes):
        reference, digest = expected(probe), probe.digest()
        for column, target in targets.items():
            happens = VERDICTS[character(probe, results[column].known[digest], reference)]
            says = said[number] if isinstance(said[number], str) else said[number][target]
            kind = "unknown" if "unknown" in (says, happens) else "agrees" if says == happens else "differs"
            outcome[kind] += 1
            if kind == "differs":
                print(f"{target}: {probe.key.full()}: check says {says}, the library {happens} "
                      f"{results[column].known[digest].message[:100]}")
            if kind == "unknown" and column == columns[-1]:
                print(f"unknown: {probe.key.full()}")
    print(f"{len(probes)} probes in {len(columns)} libraries: {outcome['agrees']} answers agree, "
          f"{outcome['differs']} differ, {outcome['unknown']} unknown")
    return 1 if outcome["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
