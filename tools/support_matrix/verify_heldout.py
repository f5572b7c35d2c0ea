#!/usr/bin/env python3
"""Checks support.txt with probes that it was not made from.

    verify_heldout.py --libraries DIR --headers DIR --scratch DIR [--seed N] [--sample N] [--matching TEXT]
                      [--only VERSION …]

The probes have the same keys and other shapes, values and attributes. Ends with 1 when a library says something
else than the file: then the key lacks something that matters, and the case needs another dimension.
"""
import random
import sys
from pathlib import Path

import support_file
from measure import arguments_parser, character, measure_all, place_of
from probes import all_probes
from reference import expected


def main():
    parser = arguments_parser()
    parser.add_argument("--support", type=Path, default=Path(__file__).with_name("support.txt"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--matching", default="", help="only keys with this text in them, such as float16")
    arguments = parser.parse_args()
    support = support_file.read(arguments.support)
    columns = [c for c in support.columns if not arguments.only or {c.version, str(c)} & set(arguments.only)]

    probes = [probe for probe in all_probes(arguments.seed) if arguments.matching in probe.key.full()]
    if arguments.sample < len(probes):
        probes = random.Random(arguments.seed).sample(probes, arguments.sample)
    results = measure_all(place_of(arguments), columns, probes)

    wrong = 0
    for probe in probes:
        reference, digest = expected(probe), probe.digest()
        for column in columns:
            said = character(probe, results[column].known[digest], reference)
            recorded = support.status(probe.key, column)
            if said != recorded:
                wrong += 1
                print(f"{column}: {probe.key.full()}: recorded {recorded}, now {said} "
                      f"{results[column].known[digest].message[:120]}")
    asked = len(probes) * len(columns)
    print(f"{asked - wrong} of {asked} answers agree ({len(probes)} probes, {len(columns)} libraries)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
