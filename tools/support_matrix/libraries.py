"""The libraries that are measured, and running probes in one of them."""
import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from probe_pack import write_pack
from support_file import Column

HERE = Path(__file__).resolve().parent
COMPILERS = {"x86_64": "g++", "aarch64": "aarch64-linux-gnu-g++"}
CHUNK = {"x86_64": 500, "aarch64": 500, "wasm": 2000}   # results are stored after this number of probes
WEB = "node_modules/onnxruntime-web"
WEB_LIBRARIES = ("ort-wasm-simd.wasm", "ort-wasm-simd-threaded.wasm")   # the first that is there is loaded


@dataclass
class Place:
    """Where everything is: the libraries of fetch.sh, the headers, a folder to keep results in."""
    libraries: Path
    headers: Path
    scratch: Path
    emulator: str        # qemu-aarch64 for a foreign machine
    sysroot: str

    def folder(self, column):
        suffix = "" if column.machine == "x86_64" else f"-{column.machine}"
        return self.libraries / (column.version + suffix)

    def library(self, column):
        """The file whose digest names the library."""
        if column.machine != "wasm":
            return self.folder(column) / "lib" / "libonnxruntime.so"
        files = [self.folder(column) / WEB / "dist" / name for name in WEB_LIBRARIES]
        return next((file for file in files if file.exists()), files[-1])

    def what_runs(self, column):
        """The argument of the runner: the library, or the package around it."""
        return self.folder(column) / WEB if column.machine == "wasm" else self.library(column)

    def runner(self, machine):
        if machine == "wasm":
            return ["node", str(HERE / "web_runner.mjs")]
        self.scratch.mkdir(parents=True, exist_ok=True)
        program = self.scratch / f"probe_runner-{machine}"
        source = HERE / "probe_runner.cpp"
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            subprocess.run([COMPILERS[machine], "-std=c++20", "-O1", "-isystem", str(self.headers), str(source),
                            "-o", str(program), "-ldl"], check=True)
        return [str(program)] if machine == "x86_64" else [self.emulator, "-L", self.sysroot, str(program)]


def columns_of(place):
    """Every release that is there, x64 first, then arm64, then the web's, each oldest first."""
    found = []
    for machine, field in (("x86_64", 0), ("aarch64", 0), ("wasm", 2)):
        for line in (HERE / "releases.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                column = Column(line.split()[field], machine)
                library = place.library(column)
                if library.exists():
                    digest = hashlib.sha256(library.read_bytes()).hexdigest()
                    found.append(Column(column.version, machine, digest))
    return found


@dataclass
class Result:
    status: str       # ok, load:CODE, run:CODE, crash:SIGNAL, untold
    message: str
    operators: list
    outputs: str


class Results:
    """The results of one library, kept in a file: a rerun measures only new probes."""

    def __init__(self, place, column):
        self.place, self.column = place, column
        folder = place.scratch / "results"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{column.version}-{column.machine}.tsv"
        self.known = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                self.keep(line)

    def keep(self, line):
        digest, status, message, operators, outputs = line.split("\t")
        self.known[digest] = Result(status, message, operators.split(",") if operators else [], outputs)

    def measure(self, probes, digests):
        missing = [n for n, digest in enumerate(digests) if digest not in self.known]
        if not missing:
            return
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
            pack = Path(folder) / "pack"
            write_pack(pack, [probes[n] for n in missing])
            for start in range(0, len(missing), CHUNK[self.column.machine]):
                self.run(pack, Path(folder) / "optimised.onnx", [digests[n] for n in missing], start)

    def run(self, pack, scratch, digests, start):
        indices = range(start, min(start + CHUNK[self.column.machine], len(digests)))
        command = ["nice", "-n", "5", *self.place.runner(self.column.machine),
                   str(self.place.what_runs(self.column)), str(pack), str(scratch)]
        done = subprocess.run(command, input="\n".join(map(str, indices)), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, errors="replace")
        lines = []
        for line in done.stdout.splitlines():
            index, rest = line.split("\t", 1)
            lines.append(f"{digests[int(index)]}\t{rest}")
        if len(lines) != len(indices):
            raise RuntimeError(f"{self.column}: {len(indices) - len(lines)} probes without a result "
                               f"(runner ended with {done.returncode})")
        with open(self.path, "a", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        for line in lines:
            self.keep(line)
