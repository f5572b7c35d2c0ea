#!/usr/bin/env python3
"""Measures how the cost of `ounce quantize` grows with the bytes of a model (against cp and numpy) and with its nodes.

    bench/scale.py                           # 0.25 and 0.5 GiB, up to 10k nodes: two minutes
    bench/scale.py --scale full              # 0.5 to 4 GiB, up to 100k nodes: ten minutes, 14 GB of disk
    bench/scale.py --parts bytes --sizes 4 --gate      # exit code 1 when a target is missed

Needs only the standard library; the comparison with weight_only_numpy.py needs numpy and onnx in the Python given by --numpy,
and is skipped without them: apt-get install python3-numpy python3-onnx, or pip install numpy onnx. Files are written to a new
folder in --folder, which should be on the file system to measure, and are removed at the end.

The compared commands run in alternation: each round runs every command once, after reading its source into the page cache,
waiting for the disk (sync) and removing its target. The table shows the best and the median of the rounds. `spread` (slowest
round / fastest) and `others` (CPUs used by other processes during the best round) show the reliability of a row. On a busy
machine use --realtime (root), which runs cp, numpy and ounce with real-time priority.

cp does not flush its copy to the disk; ounce does. The peak is ru_maxrss, which includes the mapped pages of files.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GIB = 1 << 30
MAX_CP_RATIO, CP_TARGET_GIB, MAX_PEAK_MB, MIN_NUMPY_RATIO = 1.0, 4, 256, 15
MAX_GROWTH = 1.15       # of the cost per byte
MAX_NODE_GROWTH = 1.75  # of the cost per node, because large graphs exceed the caches; n log n from 1k to 100k is 1.67

SCALES = {
    "small": {"sizes": [0.25, 0.5], "nodes": [1, 1000, 10000], "rounds": 3},
    "full": {"sizes": [0.5, 1, 2, 4], "nodes": [1, 1000, 10000, 100000], "rounds": 5},
}


def make(kind, count, path):
    """Runs a command from a separate process, which must be small: ru_maxrss of a child starts with its parent's memory."""
    subprocess.run([sys.executable, os.path.join(HERE, "models.py"), kind, str(count), path], check=True)


def busy_seconds():
    """CPU time of all CPUs since the machine was started."""
    with open("/proc/stat") as stat:
        times = [int(t) for t in stat.readline().split()[1:9]]
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


class Run:
    """One command, timed in every round."""

    prefix = []

    def __init__(self, command, target=None):
        self.command, self.target = command, target
        self.wall, self.user, self.system, self.foreign, self.peak = [], [], [], [], 0

    def once(self):
        if self.target:
            shutil.rmtree(self.target, ignore_errors=True)
            os.makedirs(self.target)
        os.sync()
        busy = busy_seconds()
        start = time.perf_counter()
        process = subprocess.Popen(self.prefix + self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        self.wall.append(time.perf_counter() - start)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(self.command)}: exit code {process.returncode}\n{complaint.decode(errors='replace')}")
        self.user.append(usage.ru_utime)
        self.system.append(usage.ru_stime)
        self.foreign.append(max(0, busy_seconds() - busy - usage.ru_utime - usage.ru_stime) / self.wall[-1])
        self.peak = max(self.peak, usage.ru_maxrss / 1024)
        if self.target:
            shutil.rmtree(self.target)

    best = property(lambda self: min(self.wall))
    median = property(lambda self: statistics.median(self.wall))
    others = property(lambda self: self.foreign[self.wall.index(self.best)])
    cpu = property(lambda self: min(u + s for u, s in zip(self.user, self.system)))
    spread = property(lambda self: max(self.wall) / min(self.wall))


class Table:
    def __init__(self, *columns):
        self.widths = [max(len(c), 8) for c in columns]
        self.widths[0] = max(self.widths[0], 34)
        self.row(*columns)
        print("  ".join("-" * w for w in self.widths))

    def row(self, *cells):
        texts = [c if isinstance(c, str) else f"{c:.0f}" if abs(c) >= 100 else f"{c:.2f}" for c in cells]
        print(texts[0].ljust(self.widths[0]), *(t.rjust(w) for t, w in zip(texts[1:], self.widths[1:])), sep="  ", flush=True)


verdicts = []


# Prints whether a target is met, after each table.
def verdict(what, value, limit, at_most=True):
    met = value <= limit if at_most else value >= limit
    verdicts.append(met)
    print(f"  {'met   ' if met else 'MISSED'}  {what}: {value:.2f} (target: {'at most' if at_most else 'at least'} {limit:g})")


def read_all(*paths):
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            buffer = bytearray(8 << 20)
            while file.readinto(buffer):
                pass


def file_system(folder):
    folder, best = os.path.realpath(folder), ("", "?")
    with open("/proc/mounts") as mounts:
        for line in mounts:
            _, point, kind = line.split()[:3]
            inside = folder == point or folder.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best[0]):
                best = (point, kind)
    return best[1]


def print_machine(arguments):
    with open("/proc/cpuinfo") as info:
        cpu = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "?")
    kind = file_system(arguments.folder)
    version = subprocess.run(["cp", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    print(f"{cpu}, {len(os.sched_getaffinity(0))} CPUs, Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}")
    print(f"{arguments.folder} is {kind}; {version}", end="")
    print(" may share blocks instead of copying them here: its times mean little" if kind in ("btrfs", "xfs", "bcachefs", "zfs") else
          " really copies here (copy_file_range through the page cache)")
    print(f"{arguments.rounds} rounds{', real-time priority' if arguments.realtime else ''}\n")


def require_room(arguments):
    largest, total = max(arguments.sizes), sum(arguments.sizes)
    needed = (total + 1.5 * largest) * GIB
    free = shutil.disk_usage(arguments.folder).free
    if free < needed:
        sys.exit(f"{arguments.folder} has {free / GIB:.1f} GiB free and the models need {needed / GIB:.1f}; choose --folder or --sizes")
    with open("/proc/meminfo") as info:
        available = next(int(line.split()[1]) for line in info if line.startswith("MemAvailable")) * 1024
    if available < 2.5 * largest * GIB:
        print(f"only {available / GIB:.1f} GiB of memory are available: the page cache may not hold model and copy, which slows both\n")


def bytes_part(arguments, made):
    print("Cost per byte: ounce quantize --to w8 against cp of the same files")
    variants = {"w8": [], "w8 --scale absmax": ["--scale", "absmax"]}
    target = os.path.join(arguments.folder, "target")
    runs = {}
    for size, path in made.items():
        runs[size, "cp"] = Run(["cp", path, path + ".data", target], target)
        for name, options in variants.items():
            runs[size, name] = Run([arguments.ounce, "quantize", path, "-o", os.path.join(target, "out.onnx"), "--to", "w8", "--no-verify", *options], target)
    for _ in range(arguments.rounds):
        for size, path in made.items():
            read_all(path, path + ".data")
            for name in ("cp", *variants):
                runs[size, name].once()
    table = Table("model and options", "cp s", "(median)", "spread", "others", "ounce s", "(median)", "spread", "others", "ounce/cp", "(median)",
                  "user s", "sys s", "ns/byte", "/smallest", "peak MB")
    smallest, largest = min(made), max(made)
    for name in variants:
        for size in made:
            run, cp = runs[size, name], runs[size, "cp"]
            table.row(f"{size:g} GiB {name}", cp.best, cp.median, cp.spread, cp.others, run.best, run.median, run.spread, run.others, run.best / cp.best,
                      run.median / cp.median, min(run.user), min(run.system), f"{run.best / size / GIB * 1e9:.3f}",
                      run.best / size / (runs[smallest, name].best / smallest), run.peak)
    run, cp = runs[largest, "w8"], runs[largest, "cp"]
    if largest >= CP_TARGET_GIB:
        verdict(f"w8 of {largest:g} GiB, times the time of cp", run.best / cp.best, MAX_CP_RATIO)
    verdict("w8, peak MB", max(runs[size, "w8"].peak for size in made), MAX_PEAK_MB)
    if largest > smallest:
        verdict(f"w8, ns/byte of {largest:g} GiB / {smallest:g} GiB", run.best / largest / (runs[smallest, "w8"].best / smallest), MAX_GROWTH)
    print()


def numpy_part(arguments, made):
    needed = subprocess.run([arguments.numpy, "-c", "import numpy, onnx; print('numpy', numpy.__version__, 'onnx', onnx.__version__)"],
                            capture_output=True, text=True)
    if needed.returncode != 0:
        print(f"Against numpy: skipped, {arguments.numpy} has no numpy or onnx (apt-get install python3-numpy python3-onnx, or "
              "pip install numpy onnx and --numpy PYTHON)\n")
        return
    size = min(made, key=lambda s: abs(s - 1))
    path, target = made[size], os.path.join(arguments.folder, "target")
    out = os.path.join(target, "out.onnx")
    print(f"Against the numpy script: {size:g} GiB, {needed.stdout.strip()}; the last row is ounce with its defaults")

    def numpy(*options):
        return Run([arguments.numpy, os.path.join(HERE, "weight_only_numpy.py"), path, out, *options], target)

    def ounce(*options):
        return Run([arguments.ounce, "quantize", path, "-o", out, "--to", "w8", "--no-verify", *options], target)

    pairs = {
        "absmax, per tensor": (numpy(), ounce("--granularity", "tensor", "--scale", "absmax", "--rounding", "nearest", "--decode", "dq")),
        "absmax, per channel": (numpy("--per-channel"), ounce("--scale", "absmax", "--rounding", "nearest", "--decode", "dq")),
        "best of 8 scales, per channel": (numpy("--per-channel", "--search"), ounce()),
    }
    for _ in range(arguments.rounds):
        read_all(path, path + ".data")
        for plain, fast in pairs.values():
            plain.once()
            fast.once()
    table = Table("options", "numpy s", "(median)", "spread", "others", "ounce s", "(median)", "spread", "others", "times", "numpy MB", "ounce MB")
    for name, (plain, fast) in pairs.items():
        table.row(name, plain.best, plain.median, plain.spread, plain.others, fast.best, fast.median, fast.spread, fast.others, plain.best / fast.best,
                  plain.peak, fast.peak)
    for name, (plain, fast) in pairs.items():
        verdict(f"{name}: times the throughput of numpy", plain.best / fast.best, MIN_NUMPY_RATIO, at_most=False)
    print()


def fewest_of(counts):
    """The smallest number of nodes for comparisons; with fewer, start-up dominates."""
    return min((count for count in counts if count >= 1000), default=None)


def nodes_part(arguments):
    print("Cost per node: MatMuls of 32x32; Constant: every second node is a weight; If: 50 in each branch")
    target = os.path.join(arguments.folder, "target")
    kinds = {"chain": "chain", "Constant": "constants", "If": "branches"}
    runs = {}
    for count in arguments.nodes:
        for kind, maker in kinds.items():
            if count < 10 and kind != "chain":
                continue
            path = os.path.join(arguments.folder, f"{kind}{count}.onnx")
            make(maker, count, path)
            out = os.path.join(target, "out.onnx")
            runs[kind, "quantize", count] = Run([arguments.ounce, "quantize", path, "-o", out, "--no-verify"], target)
            runs[kind, "inspect", count] = Run([arguments.ounce, "inspect", path])
    for _ in range(arguments.rounds):
        for run in runs.values():
            run.once()
    table = Table("model and verb", "nodes", "seconds", "(median)", "µs/node", "CPU µs", "/fewest", "spread", "others", "peak MB")
    growth = {}
    for kind in kinds:
        for verb in ("quantize", "inspect"):
            counts = [count for count in arguments.nodes if (kind, verb, count) in runs]
            fewest = fewest_of(counts)
            for count in counts:
                run = runs[kind, verb, count]
                per_node = run.best / count
                relative = per_node / (runs[kind, verb, fewest].best / fewest) if fewest and count >= fewest else None
                if count != fewest:
                    growth[kind, verb] = relative
                table.row(f"{kind}, {verb}" if count >= 10 else f"start-up, {verb}", str(count), f"{run.best:.3f}", f"{run.median:.3f}", per_node * 1e6,
                          run.cpu / count * 1e6, "" if relative is None else relative, run.spread, run.others, run.peak)
    for (kind, verb), relative in growth.items():
        if relative is not None:
            verdict(f"{kind}, {verb}: µs/node of {max(arguments.nodes)} nodes / {fewest_of(arguments.nodes)}", relative, MAX_NODE_GROWTH)
    print()


def numbers(kind):
    return lambda text: sorted({kind(part) for part in text.split(",")})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default=os.path.join(HERE, "..", "build", "ounce"))
    parser.add_argument("--folder", help="parent of the folder for the models (default: the system's for temporary files)")
    parser.add_argument("--scale", choices=SCALES, default=os.environ.get("SCALE") or "small", help="preset for the next options (default: $SCALE, or small)")
    parser.add_argument("--sizes", type=numbers(float), help="GiB of weights, multiples of 0.25")
    parser.add_argument("--nodes", type=numbers(int))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--parts", default="bytes,numpy,nodes", help="which tables (default: all of bytes,numpy,nodes)")
    parser.add_argument("--numpy", default=sys.executable, help="a Python with numpy and onnx (default: this one)")
    parser.add_argument("--realtime", action="store_true", help="run the commands with real-time priority (chrt, root)")
    parser.add_argument("--gate", action="store_true", help="exit code 1 when a target is missed")
    arguments = parser.parse_args()
    if arguments.scale not in SCALES:
        parser.error(f"SCALE is '{arguments.scale}', not one of {', '.join(SCALES)}")
    for name, value in SCALES[arguments.scale].items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    parts = arguments.parts.split(",")
    if unknown := set(parts) - {"bytes", "numpy", "nodes"}:
        parser.error(f"no part '{unknown.pop()}'")
    arguments.ounce = os.path.abspath(arguments.ounce)
    if not os.access(arguments.ounce, os.X_OK):
        parser.error(f"no program at {arguments.ounce}; make build, or --ounce")
    if arguments.realtime:
        Run.prefix = ["chrt", "--rr", "1"]
    with tempfile.TemporaryDirectory(prefix="ounce-bench-", dir=arguments.folder) as folder:
        arguments.folder = folder
        print_machine(arguments)
        if "bytes" in parts or "numpy" in parts:
            require_room(arguments)
            made = {size: os.path.join(folder, f"m{size:g}.onnx") for size in arguments.sizes}
            for size, path in made.items():
                make("large", size, path)
            if "bytes" in parts:
                bytes_part(arguments, made)
            if "numpy" in parts:
                numpy_part(arguments, made)
            for path in made.values():
                os.remove(path)
                os.remove(path + ".data")
        if "nodes" in parts:
            nodes_part(arguments)
    return 1 if arguments.gate and not all(verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
