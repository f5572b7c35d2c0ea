#!/usr/bin/env python3
"""Runs every verb on third-party models, and prints a table of the results and a list of violations.

usage: bench/studies/foreign_table.py FOLDER [--ounce build/ounce] [--only magika,pitch] [--limit 300] [--budget 60s] [--seconds 3]
                              [--steps STEP,…] [--again STEP,…] [--print] [--write docs/lab/foreign.md]

FOLDER is made by bench/studies/foreign_models.py. Each verb runs in a process with a time limit. Results are saved in
FOLDER/results.json after each step, so that a run can be continued (`--again int8,tune` repeats these steps, `--print` only
prints). The baseline is onnxruntime.quantization with its defaults (foreign_peer.py), with the same data, judged on the same
unseen data and timed in the same run, interleaved. Needs numpy, onnx and onnxruntime (pip).

Violations (exit 1 if there are any):
- a verb that ends without a result or a message: exit 70, a signal, the time limit, a traceback, an empty message;
- an int8 or tuned model that is slower than the original (by more than 3 %, with an interval that excludes 1);
- a tuned model that fails its gate on data that tune has not seen.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

FORMATS = ("w8", "w4", "w16", "fp16", "int8-dynamic", "int8")
PEERS = ("baseline static", "baseline dynamic")
VARIANTS = (*FORMATS, "tune", *PEERS)
HERE = ("--on", "none")  # no emulated CPUs, which would take most of the time
SPEED_NOISE = .03
SENTENCES = (1, 2, 3, 4)  # exit codes for problems of the model, the data or the disk


class Campaign:
    def __init__(self, arguments):
        self.arguments = arguments
        self.path = os.path.join(arguments.folder, "results.json")
        self.results = {}
        if os.path.exists(self.path):
            with open(self.path) as file:
                self.results = json.load(file)

    def step(self, entry, name, command, needs=None):
        """Runs a command unless its result is known; keeps its output, exit code and time."""
        steps = self.results.setdefault(entry["name"], {})
        if name in steps or self.arguments.steps and name not in self.arguments.steps.split(","):
            return steps.get(name)
        if needs and os.path.exists(needs):
            os.remove(needs)  # of an earlier run
        begin, used = time.time(), cpu_seconds()
        try:
            done = subprocess.run(["nice", "-n", "10", *command], capture_output=True, text=True, timeout=self.arguments.limit,
                                  stdin=subprocess.DEVNULL, errors="replace")
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, out, err = "time limit", "", ""
        steps[name] = {"exit": code, "seconds": round(time.time() - begin, 1), "cpu": round(cpu_seconds() - used, 1),
                       "said": last_line(err), "command": command}
        if name == "verify" or name == "bench" or name == "tune":
            steps[name]["document"] = document_in(out)
        if needs:
            steps[name]["bytes"] = os.path.getsize(needs) if os.path.exists(needs) else None
        with open(self.path + ".new", "w") as file:
            json.dump(self.results, file, indent=1, ensure_ascii=False)
        os.replace(self.path + ".new", self.path)
        print(f"{entry['name']:20} {name:14} {str(code):>10} {steps[name]['seconds']:7.1f} s {steps[name]['cpu']:7.1f} CPU s  {steps[name]['said'][:150]}", flush=True)
        return steps[name]

    def model(self, entry):
        ounce, model, arguments = self.arguments.ounce, entry["model"], self.arguments
        made = os.path.join(arguments.folder, "made", entry["name"])
        os.makedirs(made, exist_ok=True)

        def output(variant):
            return os.path.join(made, variant.replace(" ", "-") + ".onnx")

        self.step(entry, "inspect", [ounce, "inspect", model])
        self.step(entry, "check", [ounce, "check", model, "--target", "linux-x64@1.30.0,android-arm64@1.22.0"])
        self.step(entry, "contract", [ounce, "contract", "show", model])
        self.step(entry, "copy", [ounce, "copy", model, "-o", output("copy")], output("copy"))
        for form in FORMATS:
            data = [*(entry["tune"] if form == "int8" else []), *(HERE if form in ("int8", "int8-dynamic") else [])]
            self.step(entry, form, [ounce, "quantize", model, "--to", form, "-o", output(form), *data], output(form))
        self.step(entry, "calibrate", [ounce, "calibrate", model, "-o", os.path.join(made, "ranges"), *entry["tune"]])
        self.step(entry, "sensitivity", [ounce, "sensitivity", model, "--top", "4", "--no-cache", *few(entry["tune"], 8)])
        self.step(entry, "advise", [ounce, "advise", model, "--budget", "30s", *entry["tune"]])
        self.step(entry, "tune", [ounce, "tune", model, "-o", output("tune"), "--budget", arguments.budget, "--no-cache", "--json",
                                  *HERE, *entry["gate"], *entry["tune"]], output("tune"))
        peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign_peer.py")
        for name in PEERS:
            self.step(entry, name, [sys.executable, peer, name.split()[1], model, output(name), *entry["tune"]], output(name))
        candidates = [variant for variant in VARIANTS if os.path.exists(output(variant))]
        paths = [output(variant) for variant in candidates]
        if paths:
            self.step(entry, "verify", [ounce, "verify", model, *paths, *entry["judge"], *entry["gate"], "--no-edge-cases", "--json"])
            self.step(entry, "bench", [ounce, "bench", model, *paths, *few(entry["judge"], 8), "--seconds", str(arguments.seconds),
                                       "--cold-starts", "1", "--json"])


def cpu_seconds():
    """CPU seconds of all ended child processes, which do not depend on other users of the machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def few(options, count):
    """The same data, limited to a number of samples."""
    if "--samples" in options:
        at = options.index("--samples") + 1
        return options[:at] + [str(min(count, int(options[at])))] + options[at + 1:]
    return [*options, "--samples", str(count if "--carry" not in options else 200)]


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def document_in(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


# Results

def path_key(path):
    return os.path.splitext(os.path.basename(path))[0].replace("-", " ")


def judged(steps):
    """Variant → its results of verify on unseen data."""
    document = (steps.get("verify") or {}).get("document") or {}
    return {path_key(candidate["candidate"]): candidate for candidate in document.get("results", [])}


def timed(steps):
    """Variant → its results of bench; the original is 'original'."""
    results = ((steps.get("bench") or {}).get("document") or {}).get("results", [])
    models = results[0]["models"] if results else []
    return {"original" if n == 0 else path_key(model["model"]): model for n, model in enumerate(models)}


def quality(candidate):
    """The model's metrics if verify measured some, and the worst output's dB."""
    found = [f"{metric['name']} {metric['candidate']:.3f}" for metric in candidate.get("metrics", []) if metric.get("candidate") is not None]
    outputs = [output for output in candidate.get("outputs", []) if not output["state"]]
    agreements = [output["top1_agreement"] for output in outputs if output.get("top1_agreement") is not None]
    decibels = [output["sqnr_db"] for output in outputs if output.get("sqnr_db") is not None]
    if outputs and not decibels and not candidate.get("failures"):
        found.append("exact" if all(output.get("exact") for output in outputs) else "")
    found += [f"{min(decibels):.1f} dB"] if decibels else []
    found += [f"{min(agreements) * 100:.1f} %"] if agreements and not candidate.get("metrics") else []
    return ", ".join(part for part in found if part)


def ratio(model):
    return model["batches"][0]["speed_up"] if model.get("batches") else None


def cell(steps, variant, qualities, times, whole):
    """The figures of a variant: size, quality, speed, memory; or why there are none."""
    step = steps.get(variant)
    if not step:
        return ""
    if not step.get("bytes"):
        if variant in PEERS:
            return "fails: " + (step["said"] or str(step["exit"])).split(":")[0][:40]
        return {"time limit": "time limit", 1: "gate failed", 3: "not possible", 2: "refused"}.get(step["exit"], f"exit {step['exit']}")
    parts = [f"{step['bytes'] / whole:.2f}"]
    if variant in qualities:
        parts.append(quality(qualities[variant]) + ("" if qualities[variant].get("passed") else " ✗"))
    if variant in times and ratio(times[variant]):
        parts.append(f"{ratio(times[variant])['ratio']:.2f} ×")
    if variant in times and times[variant].get("peak_memory_bytes"):
        parts.append(f"{times[variant]['peak_memory_bytes'] / 1e6:.0f} MB")
    return " · ".join(parts)


def violations_of(name, steps):
    found = []
    for step, result in steps.items():
        if step in PEERS:
            continue
        code, said = result["exit"], result["said"]
        if code == "time limit" or code != 0 and code not in SENTENCES:
            found.append(f"{step}: exit {code}: {said}")
        elif "Traceback" in said or "terminate called" in said:
            found.append(f"{step}: {said}")
        elif code != 0 and not said:
            found.append(f"{step}: exit {code} without a message")
        elif code == 0 and step in VARIANTS and not result.get("bytes"):
            found.append(f"{step}: exit 0 and no file")
    for variant in ("int8", "tune"):
        speed = ratio(timed(steps).get(variant, {}))
        if speed and speed["measurable"] and speed["high"] < 1 and speed["ratio"] < 1 - SPEED_NOISE:
            found.append(f"{variant}: slower than the original, {speed['ratio']:.2f} × ({speed['low']:.2f} … {speed['high']:.2f})")
    tuned = judged(steps).get("tune")
    if tuned and not tuned.get("passed"):
        found.append("tune: on unseen data " + "; ".join(tuned.get("failures") or [tuned.get("verdict", "")]))
    return [f"{name}: {what}" for what in found]


def report(entries, results):
    columns = ("w8", "w4", "w16", "fp16", "int8-dynamic", "int8", "tune", *PEERS)
    lines = ["| model | original | " + " | ".join(columns) + " |", "|---" * (len(columns) + 2) + "|"]
    violations = []
    for entry in entries:
        steps = results.get(entry["name"])
        if not steps:
            continue
        whole, qualities, times = os.path.getsize(entry["model"]), judged(steps), timed(steps)
        original = f"{whole / 1e6:.2f} MB"
        if "original" in times:
            first = times["original"]
            original += f" · {first['batches'][0]['latency']['p50_ns'] / 1e6:.3g} ms · {first['peak_memory_bytes'] / 1e6:.0f} MB"
        lines.append(f"| {entry['name']} | {original} | " + " | ".join(cell(steps, column, qualities, times, whole) for column in columns) + " |")
        violations += violations_of(entry["name"], steps)
    return lines, violations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--ounce", default="build/ounce")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each command")
    parser.add_argument("--budget", default="60s", help="of tune")
    parser.add_argument("--seconds", type=float, default=3, help="of bench for each model")
    parser.add_argument("--steps", default="", help="only these, such as inspect,w8,baseline static")
    parser.add_argument("--again", default="", help="repeat these steps")
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--write", default="", help="put the table between the marks of this page")
    arguments = parser.parse_args()
    with open(os.path.join(arguments.folder, "models.json")) as file:
        entries = json.load(file)
    if arguments.only:
        order = arguments.only.split(",")
        entries = sorted((entry for entry in entries if entry["name"] in order), key=lambda entry: order.index(entry["name"]))
    campaign = Campaign(arguments)
    for entry in entries:
        for step in arguments.again.split(",") if arguments.again else []:
            campaign.results.get(entry["name"], {}).pop(step, None)
        if not arguments.only_print:
            campaign.model(entry)
    lines, violations = report(entries, campaign.results)
    print("\n".join(lines))
    print("\n".join(["", f"{len(violations)} violations", *violations]))
    if arguments.write:
        write_table(arguments.write, lines)
    sys.exit(1 if violations else 0)


def write_table(path, lines):
    begin, end = "<!-- table -->", "<!-- end -->"
    with open(path) as file:
        page = file.read()
    before, rest = page.split(begin)
    with open(path, "w") as file:
        file.write(before + begin + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
