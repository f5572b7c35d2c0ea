#!/usr/bin/env python3
"""Checks ounce.ray on a Ray cluster of several nodes on this machine.

usage: OUNCE_LIBRARY=build/libounce.so PYTHONPATH=python ray_test.py --example FOLDER [--workers 1,2,5] [--kills 0] [--seed N] [VERB ...]

The results of calibrate, sensitivity and tune must be those of one process: the same bytes of files, the same documents except for
times. --kills N ends actors (SIGKILL) and nodes (their raylet) at random moments, N times in total.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time
import uuid

# Ray binds a cluster to the address of the machine otherwise, and waits for it without an end.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
MARK = "OUNCE_RAY_TEST"
os.environ[MARK] = uuid.uuid4().hex  # all processes of this cluster have it

import ounce
import ray
from ray.cluster_utils import Cluster

import ounce.ray
from queue_test import differences, steady

NODES = 3


def verbs_of(example):
    model, calib, val = (str(example / name) for name in ("commands.onnx", "commands_calib.npz", "commands_val.npz"))
    sound = {"rescale": "1/32768"}
    return {
        "calibrate": ("calibrate", [model], {"data": calib, **sound}, "model.ranges"),
        "sensitivity": ("sensitivity", [model], {"data": calib, "samples": 32, "no_cache": True, **sound}, None),
        "tune": ("tune", [model], {"data": val, "labels": "label", "budget": "24 models", "confidence": "none", "on": "none",
                                   "no_cache": True, **sound}, "tuned.onnx"),
    }


def run(module, verb, folder, **more):
    name, positional, options, output = verb
    if output:
        options = {**options, "output": str(folder / output)}
    result = getattr(module, name)(*positional, **options, **more)
    written = (folder / output).read_bytes() if output else b""
    document = json.loads(json.dumps(result.to_dict()).replace(str(folder), "<folder>"))
    document.pop("command", None)  # names the queue
    return steady(document), written


def actors():
    """The process ids of this cluster's actors."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            title = (entry / "cmdline").read_bytes()
            if title.startswith(b"ray::Measurer") and f"{MARK}={os.environ[MARK]}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass
    return sorted(found)


def kill_something(cluster, chance):
    """Ends an actor, or a node that is not the head, and says which; None: there was none. Only in the main thread, as Ray demands."""
    nodes = [node for node in cluster.list_all_nodes() if node is not cluster.head_node]
    if nodes and chance.random() < 0.15:
        cluster.remove_node(chance.choice(nodes), allow_graceful=False)
        cluster.add_node(num_cpus=2)
        return "node"
    running = actors()
    if not running:
        return None
    try:
        os.kill(chance.choice(running), signal.SIGKILL)
    except ProcessLookupError:
        return None
    return "actor"


def under_kills(call, cluster, kills, chance):
    """The result of the call, and the number of kills by kind."""
    killed, outcome = {"actor": 0, "node": 0}, {}

    def work():
        try:
            outcome["result"] = call()
        except BaseException as problem:
            outcome["problem"] = problem

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        thread.join(chance.uniform(0.2, 1.2))
        if thread.is_alive() and sum(killed.values()) < kills:
            kind = kill_something(cluster, chance)
            if kind:
                killed[kind] += 1
    if "problem" in outcome:
        raise outcome["problem"]
    return outcome["result"], killed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--example", required=True, type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--workers", default="1,2,5")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("verbs", nargs="*")
    arguments = parser.parse_args()
    verbs = verbs_of(arguments.example)
    chance = random.Random(arguments.seed)
    killed, failed, left = {"actor": 0, "node": 0}, 0, arguments.kills
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        for _ in range(NODES - 1):
            cluster.add_node(num_cpus=2)
        ray.init(address=cluster.address, _node_ip_address="127.0.0.1", log_to_driver=False, logging_level="error")
        while True:
            for name in arguments.verbs or verbs:
                with tempfile.TemporaryDirectory(prefix="ounce-ray-") as folder:
                    expected, bytes_of_one = run(ounce, verbs[name], pathlib.Path(folder), progress=False)
                for count in (int(word) for word in arguments.workers.split(",")):
                    start = time.monotonic()
                    with tempfile.TemporaryDirectory(prefix="ounce-ray-") as folder:
                        (found, written), now = under_kills(
                            lambda: run(ounce.ray, verbs[name], pathlib.Path(folder), workers=count, num_cpus=0.5, progress=False),
                            cluster, left, chance)
                    problems = list(differences(expected, found)) + (["other bytes"] if written != bytes_of_one else [])
                    failed += bool(problems)
                    left -= sum(now.values())
                    for kind in killed:
                        killed[kind] += now[kind]
                    print(f"{name}, {count} actors: {now['actor']} actors and {now['node']} nodes killed, {time.monotonic() - start:.1f} s, "
                          f"{'DIFFERENT' if problems else 'the same'}", flush=True)
                    for problem in problems[:10]:
                        print(f"  {problem}")
            if left <= 0 or failed:
                break
        if arguments.kills:
            print(f"killed: {killed['actor']} actors, {killed['node']} nodes")
        if not arguments.verbs:
            failed += quantize_many(arguments.example)
            failed += ray_tune(arguments.example)
    finally:
        ray.shutdown()
        cluster.shutdown()
    return 1 if failed else 0


def quantize_many(example):
    with tempfile.TemporaryDirectory(prefix="ounce-ray-") as folder:
        models = []
        for i in range(4):
            models.append(os.path.join(folder, f"m{i}.onnx"))
            pathlib.Path(models[-1]).write_bytes((example / "commands.onnx").read_bytes())
        os.mkdir(os.path.join(folder, "small"))
        results = ounce.ray.quantize_many(models, to="w8", output=os.path.join(folder, "small"))
        ounce.quantize(models[0], os.path.join(folder, "one.onnx"), to="w8", progress=False)
        one = pathlib.Path(folder, "one.onnx").read_bytes()
        same = all(pathlib.Path(result.output).read_bytes() == one for result in results) and len(results) == 4
        print(f"quantize_many, {len(results)} models: {'the same' if same else 'DIFFERENT'}")
        return 0 if same else 1


def ray_tune(example):
    """The searcher in Ray Tune: trials run, and the best one passes."""
    try:
        from ray import tune
    except ImportError:
        print("Ray Tune is not installed: its searcher is not tested")
        return 0
    model, calib, val = (str(example / name) for name in ("commands.onnx", "commands_calib.npz", "commands_val.npz"))
    sound = {"rescale": "1/32768"}
    with tempfile.TemporaryDirectory(prefix="ounce-ray-") as folder:
        tuner = tune.Tuner(
            ounce.ray.trainable(model, data=val, labels="label", max_drop="1%", samples=64, quantize={"data": calib, "on": "none", **sound},
                                confidence="none", **sound),
            tune_config=tune.TuneConfig(search_alg=ounce.ray.searcher(model, data=calib, samples=8, top=3, no_cache=True, **sound),
                                        num_samples=6, metric="ratio", mode="min"),
            run_config=tune.RunConfig(storage_path=folder, verbose=0))
        results = tuner.fit()
        trials = [(one.config["to"], len(one.config["exclude"]), one.metrics.get("passed"), one.metrics.get("ratio")) for one in results]
        good = not results.errors and any(passed for _, _, passed, _ in trials)
        print(f"Ray Tune, {len(trials)} trials: {'passed' if good else 'FAILED'}: {trials}")
        for problem in results.errors:
            print(problem)
        return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
