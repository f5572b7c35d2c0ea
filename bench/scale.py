#!/usr/bin/env python3
"""How the cost of `ounce quantize` grows: with the bytes of a model, against `cp`; with its nodes; against numpy.

    bench/scale.py                                   # 0.5, 1, 2 and 4 GiB, 1k to 100k nodes: about ten minutes
    bench/scale.py --sizes 0.25,0.5 --nodes 1,1000,10000 --rounds 3
    bench/scale.py --parts bytes --gate              # exit code 1 when a target is missed

The standard library is enough; the comparison with numpy (weight_only_numpy.py) needs numpy and onnx in the Python
given by --numpy: apt-get install python3-numpy python3-onnx, or pip install numpy onnx. Files go to --folder, on the
file system that is to be measured, and are removed at the end.

Everything that is compared is run in turns: in each round every command once, its source read into the page cache and
the disk idle (sync) before, its target absent. Printed are the best and the median of the rounds; a ratio is the
median of the rounds' own ratios, and `spread` is the slowest round / the fastest: with others on the machine it tells
how far to trust the row. cp does not flush its copy to the disk, ounce does. The peak is ru_maxrss, which counts the
mapped pages of files too.
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
MAX_CP_RATIO, MAX_PEAK_MB, MAX_GROWTH, MIN_NUMPY_RATIO = 1.0, 256, 1.15, 15


def make(kind, count, path):
    """In a process of its own: a child's ru_maxrss begins with what its parent has, so this one stays small."""
    subprocess.run([sys.executable, os.path.join(HERE, "models.py"), kind, str(count), path], check=True)


class Run:
    """One command, timed in every round."""

    def __init__(self, command, target=None, setup=None):
        self.command, self.target, self.setup = command, target, setup
        self.wall, self.user, self.system, self.peak = [], [], [], 0

    def once(self):
        if self.target:
            shutil.rmtree(self.target, ignore_errors=True)
            os.makedirs(self.target)
        os.sync()
        start = time.perf_counter()
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        self.wall.append(time.perf_counter() - start)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(self.command)}: exit code {process.returncode}\n{complaint.decode(errors='replace')}")
        self.user.append(usage.ru_utime)
        self.system.append(usage.ru_stime)
        self.peak = max(self.peak, usage.ru_maxrss / 1024)
        if self.target:
            shutil.rmtree(self.target)

    best = property(lambda self: min(self.wall))
    median = property(lambda self: statistics.median(self.wall))
    cpu = property(lambda self: min(u + s for u, s in zip(self.user, self.system)))
    spread = property(lambda self: max(self.wall) / min(self.wall))

    def ratio(self, other):
        """Of this one's time to the other's, round by round."""
        return statistics.median(a / b for a, b in zip(self.wall, other.wall))


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
    print(f"{arguments.rounds} rounds\n")


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
    print("The cost of a byte: ounce quantize --to w8 against cp of the same files")
    variants = {"w8": [], "w8 --scale absmax": ["--scale", "absmax"]}
    target = os.path.join(arguments.folder, "target")
    runs = {}
    for size, path in made.items():
        runs[size, "cp"] = Run(["cp", path, path + ".data", target], target)
        for name, options in variants.items():
            runs[size, name] = Run([arguments.ounce, "quantize", path, "-o", os.path.join(target, "out.onnx"), "--to", "w8", *options], target)
    for _ in range(arguments.rounds):
        for size, path in made.items():
            read_all(path, path + ".data")
            for name in ("cp", *variants):
                runs[size, name].once()
    table = Table("model and options", "cp s", "(median)", "ounce s", "(median)", "ounce/cp", "spread", "cp spread", "user s", "sys s",
                  "ns/byte", "/smallest", "peak MB")
    smallest = min(made)
    for name in variants:
        for size, path in made.items():
            run, cp = runs[size, name], runs[size, "cp"]
            size_in_bytes = os.path.getsize(path) + os.path.getsize(path + ".data")
            growth = run.best / size_in_bytes / (runs[smallest, name].best / (smallest * GIB))
            table.row(f"{size:g} GiB {name}", cp.best, cp.median, run.best, run.median, f"{run.ratio(cp):.2f}", f"{run.spread:.2f}",
                      f"{cp.spread:.2f}", min(run.user), min(run.system), f"{run.best / size_in_bytes * 1e9:.3f}", f"{growth:.2f}", run.peak)
    largest = max(made)
    run, cp = runs[largest, "w8"], runs[largest, "cp"]
    verdict(f"time of cp, {largest:g} GiB, best round against best round", run.best / cp.best, MAX_CP_RATIO)
    verdict("peak MB", max(runs[size, "w8"].peak for size in made), MAX_PEAK_MB)
    verdict(f"ns/byte, {largest:g} GiB against {smallest:g} GiB", run.best / largest / (runs[smallest, "w8"].best / smallest), MAX_GROWTH)
    print()


def numpy_part(arguments, made):
    needed = subprocess.run([arguments.numpy, "-c", "import numpy, onnx; print('numpy', numpy.__version__, 'onnx', onnx.__version__)"],
                            capture_output=True, text=True)
    if needed.returncode != 0:
        print(f"Against numpy: left out, {arguments.numpy} has no numpy or onnx (apt-get install python3-numpy python3-onnx, or "
              "pip install numpy onnx and --numpy PYTHON)\n")
        return
    size = min(made, key=lambda s: abs(s - 1))
    path, target = made[size], os.path.join(arguments.folder, "target")
    out = os.path.join(target, "out.onnx")
    print(f"Against the plain script: {size:g} GiB, {needed.stdout.strip()}, one process each")

    def numpy(*options):
        return Run([arguments.numpy, os.path.join(HERE, "weight_only_numpy.py"), path, out, *options], target)

    def ounce(*options):
        return Run([arguments.ounce, "quantize", path, "-o", out, "--to", "w8", *options], target)

    pairs = {
        "absmax, per tensor": (numpy(), ounce("--granularity", "tensor", "--scale", "absmax", "--rounding", "nearest", "--decode", "dq")),
        "absmax, per channel": (numpy("--per-channel"), ounce("--scale", "absmax", "--rounding", "nearest", "--decode", "dq")),
        "searched scale, per channel (default)": (numpy("--per-channel", "--search"), ounce()),
    }
    for _ in range(arguments.rounds):
        read_all(path, path + ".data")
        for plain, fast in pairs.values():
            plain.once()
            fast.once()
    table = Table("options", "numpy s", "(median)", "ounce s", "(median)", "faster x", "spread", "numpy MB", "ounce MB")
    for name, (plain, fast) in pairs.items():
        table.row(name, plain.best, plain.median, fast.best, fast.median, f"{plain.best / fast.best:.1f}", f"{fast.spread:.2f}", plain.peak, fast.peak)
    for name, (plain, fast) in pairs.items():
        verdict(f"throughput of numpy, {name}", plain.best / fast.best, MIN_NUMPY_RATIO, at_most=False)
    print()


def nodes_part(arguments):
    print("The cost of a node: MatMuls of 32x32; Constant: every second node holds a weight; If: 50 in each branch")
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
            runs[kind, "quantize", count] = Run([arguments.ounce, "quantize", path, "-o", out], target)
            runs[kind, "inspect", count] = Run([arguments.ounce, "inspect", path])
    for _ in range(arguments.rounds):
        for run in runs.values():
            run.once()
    table = Table("model and verb", "nodes", "seconds", "(median)", "µs/node", "CPU µs", "/fewest", "spread", "peak MB")
    growth = {}
    for kind in kinds:
        for verb in ("quantize", "inspect"):
            counts = [count for count in arguments.nodes if (kind, verb, count) in runs]
            fewest = min((count for count in counts if count >= 100), default=None)
            for count in counts:
                run = runs[kind, verb, count]
                per_node = run.best / count
                relative = per_node / (runs[kind, verb, fewest].best / fewest) if fewest and count >= 100 else None
                growth[kind, verb] = relative
                table.row(f"{kind}, {verb}" if count >= 10 else f"start-up, {verb}", str(count), f"{run.best:.3f}", f"{run.median:.3f}", per_node * 1e6,
                          run.cpu / count * 1e6, "" if relative is None else f"{relative:.2f}", f"{run.spread:.2f}", run.peak)
    for (kind, verb), relative in growth.items():
        if relative is not None:
            verdict(f"µs/node, {kind}, {verb}, most nodes against fewest", relative, MAX_GROWTH)
    print()


def numbers(kind):
    return lambda text: sorted({kind(part) for part in text.split(",")})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ounce", default=os.path.join(HERE, "..", "build", "ounce"))
    parser.add_argument("--folder", help="where models are made; a new folder below the system's one for temporary files")
    parser.add_argument("--sizes", type=numbers(float), default=[0.5, 1, 2, 4], help="GiB of weights, multiples of 0.25 (default: 0.5,1,2,4)")
    parser.add_argument("--nodes", type=numbers(int), default=[1, 1000, 10000, 100000], help="default: 1,1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", default="bytes,numpy,nodes", help="which tables (default: all of bytes,numpy,nodes)")
    parser.add_argument("--numpy", default=sys.executable, help="a Python with numpy and onnx (default: this one)")
    parser.add_argument("--gate", action="store_true", help="exit code 1 when a target is missed")
    arguments = parser.parse_args()
    arguments.ounce = os.path.abspath(arguments.ounce)
    parts = arguments.parts.split(",")
    if unknown := set(parts) - {"bytes", "numpy", "nodes"}:
        parser.error(f"no part '{unknown.pop()}'")
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
