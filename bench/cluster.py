#!/usr/bin/env python3
"""Overheads of `--queue`, its efficiency by CPU time, and a cost model for up to 1,000 nodes.

usage: OUNCE_ZOO=FOLDER cluster.py PROGRAM [--gate] [--only measure|model]

measure: MobileNetV2, one process against a coordinator with 1, 2 and 5 workers, `calibrate` and `sensitivity`. The CPU time of all
  processes is compared, because wall time depends on the load of the machine. The overhead of an item is the time between two
  answers of one worker, less the measurement itself (median).
model: formulas for the time on N nodes, compared with a simulation of every item that uses the measured overheads; it assumes one
  worker per node, items of equal time +- 30 %, and data that all nodes can read at once.
--gate: exit 1 if an item costs more than 20 ms, the efficiency is below 0.9, or formula and simulation differ by more than 10 %.
"""

import argparse
import heapq
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

MOST_OVERHEAD, LEAST_EFFICIENCY, MOST_DIFFERENCE = 0.020, 0.9, 0.1
SPREAD = 0.3  # of the time of an item


def ended(process):
    """The CPU seconds of a process and of those that it waited for."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def start(words):
    return subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cases(zoo):
    image = ["--rescale", "1/255", "--mean", "0.4914,0.4822,0.4465", "--std", "0.2470,0.2435,0.2616",
             "--layout", "nchw"]
    data = ["--data", zoo / "cifar_val.npz", *image]
    model = zoo / "mobilenetv2.onnx"
    return {
        "calibrate": (["calibrate", model, *data, "--input", "input=x"], []),
        "sensitivity": (["sensitivity", model, *data, "--input", "input=calib", "--samples", "256", "--no-cache"], []),
    }


def gaps(folder):
    """The time between answers of a worker, without the measurement, in seconds; and the measurements."""
    by_worker = {}
    for file in (folder / "done").iterdir():
        answer = json.loads(file.read_text())
        by_worker.setdefault(answer["worker"], []).append((file.stat().st_mtime_ns / 1e9, answer["seconds"]))
    found, seconds = [], []
    for answers in by_worker.values():
        answers.sort()
        seconds += [one for _, one in answers]
        found += [now - before - took for (before, _), (now, took) in zip(answers, answers[1:])]
    return found, seconds


def run(ounce, zoo, folder, words, more, workers):
    """CPU seconds of the coordinator and of the workers."""
    output = ["-o", folder / "out"] if words[0] == "calibrate" else []
    if not workers:
        return ended(start([ounce, *words, *output])), 0.0
    queue = folder / "queue"
    running = [start([ounce, "work", queue, "--root", zoo, "--idle", "2s"]) for _ in range(workers)]
    coordinator = start([ounce, *words, *more, *output, "--queue", queue])
    cpu = ended(coordinator)
    if coordinator.returncode != 0:
        sys.exit(f"{words[0]}: the coordinator ended with {coordinator.returncode}")
    return cpu, sum(ended(worker) for worker in running)


def measure(ounce, zoo):
    found, failed = {}, False
    print("| verb | workers | items | CPU of one process | coordinator | workers | efficiency | overhead per item |")
    print("|---|---|---|---|---|---|---|---|")
    for verb, (words, more) in cases(zoo).items():
        alone = None
        for workers in (0, 1, 2, 5):
            with tempfile.TemporaryDirectory(prefix="ounce-bench-") as name:
                folder = pathlib.Path(name)
                begin = time.monotonic()
                coordinator, measuring = run(ounce, zoo, folder, words, more, workers)
                if not workers:
                    alone = coordinator
                    continue
                between, seconds = gaps(folder / "queue")
                overhead = statistics.median(between) if between else 0.0
                efficiency = alone / (coordinator + measuring)
                failed |= overhead > MOST_OVERHEAD or efficiency < LEAST_EFFICIENCY
                print(f"| {verb} | {workers} | {len(seconds)} | {alone:.1f} s | {coordinator:.2f} s | {measuring:.1f} s | "
                      f"{efficiency:.2f} | {overhead * 1000:.1f} ms |", flush=True)
                found[verb, workers] = {"items": len(seconds), "coordinator": coordinator, "overhead": overhead,
                                        "wall": time.monotonic() - begin}
    return found, failed


class Costs:
    """In seconds; measure() replaces the first three."""

    overhead = 0.006  # of an item at a worker
    take = 0.006  # of an answer at the coordinator
    take_part = 0.110  # of a part of 1.5 MB, read and merged
    look = 0.010  # between looks of the coordinator at the folder
    open_session = 2.0  # at each worker: load, calibrate, record outputs
    start = 10.0  # of a worker: until the scheduler has started it


def formula(nodes, items, seconds, take, costs):
    """Workers measure in parallel, and the last round is half full; or one coordinator takes all answers."""
    opening, each = costs.start + costs.open_session, seconds + costs.overhead
    rounds = items / nodes + 0.5 * (1 - 1 / nodes) if items > nodes else 1 + SPREAD * (items - 1) / (items + 1)
    return opening + max(rounds * each + take, each + items * take) + costs.look / 2


def simulated(nodes, items, seconds, take, costs, chance):
    """The end of the last answer: each item goes to the worker that is free first."""
    free = [costs.start + costs.open_session] * min(nodes, items)
    heapq.heapify(free)
    arrivals = []
    for _ in range(items):
        now = heapq.heappop(free) + costs.overhead + seconds * chance.uniform(1 - SPREAD, 1 + SPREAD)
        arrivals.append(now)
        heapq.heappush(free, now)
    taken = 0.0
    for arrival in sorted(arrivals):
        looked = -(-arrival // costs.look) * costs.look  # the next look
        taken = max(taken, looked) + take
    return taken


def steps(nodes, timing_nodes, one, costs, chance=None):
    """tune: 12 dependent steps of 25 candidates of 5 s, and 40 contests of 6 s on the timing nodes."""
    total = costs.start + costs.open_session
    idle = type("Idle", (Costs,), {"start": 0.0, "open_session": 0.0})
    for _ in range(12):
        total += one(nodes, 25, 5.0, costs.take, idle) if chance is None else one(nodes, 25, 5.0, costs.take, idle, chance)
    each = one(timing_nodes, 40, 6.0, costs.take, idle) if chance is None else one(timing_nodes, 40, 6.0, costs.take, idle, chance)
    return max(total, each) if timing_nodes > 1 else total + each


def model(costs):
    chance = random.Random(1)
    failed = False
    work = {
        "calibrate, 1 M samples × 20 ms": (1953, 512 * 0.02, costs.take_part),
        "sensitivity, 2,000 models × 2 s": (2000, 2.0, costs.take),
    }
    print("\n| nodes | " + " | ".join(f"{name}: formula, simulation, efficiency" for name in work) +
          " | tune, 1 timing node | 4 timing nodes |")
    print("|---" * (len(work) + 3) + "|")
    for nodes in (1, 8, 32, 100, 300, 1000):
        cells = []
        for items, seconds, take in work.values():
            expected = formula(nodes, items, seconds, take, costs)
            found = simulated(nodes, items, seconds, take, costs, chance)
            failed |= abs(expected / found - 1) > MOST_DIFFERENCE
            cells.append(f"{expected:,.0f} s, {found:,.0f} s, {items * seconds / nodes / found:.0%}")
        for timing_nodes in (1, 4):
            expected = steps(nodes, timing_nodes, formula, costs)
            found = steps(nodes, timing_nodes, simulated, costs, chance)
            failed |= abs(expected / found - 1) > MOST_DIFFERENCE
            cells.append(f"{expected:,.0f} s, {found:,.0f} s")
        print(f"| {nodes:,} | " + " | ".join(cells) + " |")
    return failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("ounce", type=os.path.abspath)
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--only", choices=["measure", "model"])
    arguments = parser.parse_args()
    failed = False
    costs = Costs()
    if arguments.only != "model":
        found, failed = measure(arguments.ounce, pathlib.Path(os.environ["OUNCE_ZOO"]).resolve())
        costs.overhead = statistics.median(one["overhead"] for one in found.values())
        costs.take = found["sensitivity", 1]["coordinator"] / found["sensitivity", 1]["items"]  # upper bounds: with its start
        costs.take_part = found["calibrate", 1]["coordinator"] / found["calibrate", 1]["items"]
    if arguments.only != "measure":
        print(f"\nmodel: {costs.overhead * 1000:.1f} ms per item, {costs.take * 1000:.1f} ms per answer, "
              f"{costs.take_part * 1000:.1f} ms per part, {costs.open_session:.1f} s per session, {costs.start:.0f} s to start")
        failed |= model(costs)
    return 1 if failed and arguments.gate else 0


if __name__ == "__main__":
    sys.exit(main())
