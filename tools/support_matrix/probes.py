#!/usr/bin/env python3
"""All probes, in the order of the file: one for each operator, since_version, type binding and variant.

    probes.py [--seed N] PACK    writes them for probe_runner, and their keys to stdout

Another seed gives other shapes, values and attributes under the same keys.
"""
import argparse

import cases  # noqa: F401
from probe import CASES, probes_of
from probe_pack import write_pack
from schemas import schemas


def all_probes(seed=0):
    found = []
    for schema in schemas():
        for case in CASES.get((schema.domain, schema.name), ()):
            if case.lowest <= schema.since <= case.highest:
                found += probes_of(case, schema, seed)
    return found


def uncovered():
    """Operators for which there is no case."""
    names = {(schema.domain, schema.name) for schema in schemas()}
    return sorted(names - set(CASES))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pack")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    probes = all_probes(arguments.seed)
    write_pack(arguments.pack, probes)
    for probe in probes:
        print(probe.key.full())


if __name__ == "__main__":
    main()
