#!/usr/bin/env python3
"""Tests the command line with malicious files: the exit code, the message, and the absence of side effects.

usage: hostile_test.py --ounce PROGRAM [unittest arguments]

Each test covers one class of attacks. Classes that are tested elsewhere are listed here with their tests, and not repeated.

| class                                              | known as                                   | tested by |
|----------------------------------------------------|--------------------------------------------|-----------|
| external data: ../, absolute, backslash, NUL       | CVE-2022-25882, CVE-2024-27318             | External.test_paths_out, ExternalDataTest |
| external data: at every place with a tensor, sparse| a gap of ONNX Runtime 1.26                 | External.test_every_place |
| external data: link to a file or a folder          | CVE-2026-27489, CVE-2026-34447             | External.test_links_out |
| external data: hard link (is read, like any file)  | CVE-2026-34446                             | External.test_hard_links |
| external data: writing through existing links      | CVE-2025-51480, CVE-2024-5187, -7776       | Written |
| external data: keys that become attributes         | CVE-2026-34445                             | External.test_unknown_keys |
| external data: offset and length out of range      | CWE-190                                    | External.test_numbers, ExternalDataTest |
| uninitialized memory in results                    | CVE-2024-27319                             | Poison |
| dims: negative, overflowing, not matching the data | CWE-190, CWE-125                           | Tensors, TensorReaderTest |
| sparse indices out of range                        | CWE-787                                    | Tensors.test_sparse, ReaderTest |
| varints, wire types, repeated fields, truncation   | CWE-20                                     | Messages, ReaderTest, tests/fuzz |
| nesting of graphs, types, texts                    | CWE-674                                    | Messages.test_nesting, ReaderTest, JsonText |
| recursive functions; calls that expand to 2^30     | CWE-674, CWE-400                           | Graphs, VerifyTest; tests/hangs |
| repeated names, cycles, undefined names            | CWE-20                                     | Graphs, VerifyTest |
| endless models, models that crash the runtime      | CWE-400                                    | tests/hangs, tests/corpus |
| zip: ../ names, bombs, overlaps, invalid zip64     | zip slip, CVE-2019-13232                   | Archives, ZipTest, NpzSourceTest |
| npy: pickles, code in headers, shapes              | CVE-2019-6446                              | Arrays, NpyTest |
| png, jpg, wav: false sizes                         | CWE-789                                    | Media, Image, JpegDecoder, WavTest |
| lists that name devices, pipes, other files        | CWE-22                                     | Lists, ListSourceTest |
| Core ML packages: paths, links, offsets, overlaps   | CWE-22, CWE-125                            | Packages, CoremlReader, tests/fuzz |
| contracts, ranges, options                         | CWE-20                                     | Texts, ContractJsonTest, tests/fuzz, cli config |
| outputs that are links, pipes, inputs              | CWE-59                                     | Written, OutputFileTest, cli refusals |
| names with terminal escapes                        | CWE-150                                    | PlainText, cli refusals/hostile_names |
| exponential regular expressions                    | CWE-1333                                   | Texts.test_expressions |

onnx.hub (CVE-2026-28500) and extraction of archives do not apply: Ounce downloads nothing and extracts nothing.
The fuzz targets cover every bit flip and every truncation of small files (tests/fuzz, replay_test).
"""

import argparse
import hashlib
import io
import json
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import warnings
import zipfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from data_bytes import npy, npz, png, wav  # noqa: E402
from onnx_bytes import (FLOAT, INT64, attribute, constant, field, fields, floats_of, function, graph, graph_attribute,  # noqa: E402
                        model, node, opset, tensor, value, varint, weight)

OUNCE = None
PATIENCE = 300  # seconds after which a run counts as hanging, on the slowest machine
MOST_MEMORY = 1 << 30  # of any run: sizes in a file must not be allocated without a check
SECRET = b"S3cret, must not be read. " * 400
SANITIZERS = {key: text for key, text in os.environ.items() if key.endswith("SAN_OPTIONS") or key == "OUNCE_ONNXRUNTIME"}
QUANTIZE = ["quantize", "m.onnx", "-o", "out.onnx", "--no-verify", "--min-bytes", "0"]
OTHERS = [["copy", "m.onnx", "-o", "out.onnx"], ["inspect", "m.onnx"], [*QUANTIZE, "--to", "fp16"], ["check", "m.onnx", "--target", "linux-x64@1.30.0"],
          ["verify", "m.onnx", "m.onnx"], ["contract", "set", "m.onnx", "-o", "out.onnx", "--rescale", "2"]]
STRING, UINT4, INT4 = 8, 21, 22
CYCLE = re.compile("the graph has a cycle|the graph is not acyclic")  # the second is the runtime's message, in verify


class Hostile(unittest.TestCase):
    """A folder for the attack, with a secret file outside of it."""

    turn = 0

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="hostile-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.secret = self.root / "secret.bin"
        self.secret.write_bytes(SECRET)
        self.fresh()

    def fresh(self):
        """Empties the folder for the next attack."""
        self.folder = self.root / "model"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def put(self, **files):
        for name, content in files.items():
            self.write(name.replace("__", "."), content)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def run_ounce(self, words, **environment):
        home = str(self.root)
        return subprocess.run([OUNCE, *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
                              env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": home, "XDG_CACHE_HOME": home, "OUNCE_ON": "none",
                                   **SANITIZERS, **environment})

    def everything(self):
        """All files in the folder with their content; links are not followed."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if path.is_symlink():
                found[name] = f"link to {os.readlink(path)}"
            elif path.is_file():
                found[name] = path.read_bytes()
        return found

    def assert_nobody_was_hurt(self, done=None):
        self.assertEqual(self.secret.read_bytes(), SECRET)
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), ["model", "secret.bin"])
        if done:
            self.assertNotIn(b"S3cret", done.stdout + done.stderr)

    def refused(self, words, message, code=2):
        before = self.everything()
        done = self.run_ounce(words)
        error = done.stderr.decode()
        self.assertEqual(done.returncode, code, error)
        self.assertRegex(error, message if isinstance(message, re.Pattern) else re.escape(message))
        self.assertTrue(error.startswith("ounce: ") and error.count("\n") == 1, error)
        self.assertEqual(self.everything(), before)
        self.assert_nobody_was_hurt(done)

    def accepted(self, words):
        done = self.run_ounce(words)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assert_nobody_was_hurt(done)
        return done

    def model_refused(self, content, message, code=2):
        """Checks quantize, and in turn one of the other verbs that read models."""
        self.write("m.onnx", content)
        Hostile.turn += 1
        for words in (QUANTIZE, OTHERS[Hostile.turn % len(OTHERS)]):
            with self.subTest(words=words[0]):
                self.refused(words, message, code)


def tearDownModule():
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if not SANITIZERS:  # sanitizers need more memory
        assert most < MOST_MEMORY, f"a run took {most >> 20} MiB"


def layer(*initializers, nodes=None, more=b""):
    nodes = nodes or [node("MatMul", ["x", "w"], ["y"])]
    return graph(nodes, [value("x", ["n", 8])], [value("y", ["n", 6])], list(initializers)) + more


GOOD = model(layer(weight("w", 8, 6)))


def external(entries, dims=(8, 6), name="w", data_type=FLOAT):
    messages = [field(1, key) + field(2, text) for key, text in entries]
    return fields(1, dims) + field(2, data_type) + field(8, name) + fields(13, messages) + field(14, 1)


def sparse(indices, dims=(8, 6), values=None, shape=None):
    count = len(indices) if shape is None else shape[0]
    values = values or tensor("w", [count], floats_of([0.5] * count))
    return field(1, values) + field(2, tensor("", shape or [len(indices)], struct.pack(f"<{len(indices)}q", *indices), INT64)) + fields(3, dims)


class External(Hostile):
    def test_paths_out(self):
        self.put(d__bin=bytes(192))
        (self.folder / "inner").mkdir()
        for location, message in {
            "../secret.bin": "contains '..'",
            "a/../../secret.bin": "contains '..'",
            "inner/../../secret.bin": "contains '..'",
            "./../secret.bin": "contains '..'",
            "inner/..": "contains '..'",
            "..": "contains '..'",
            str(self.secret): "is an absolute path",
            "/proc/self/environ": "is an absolute path",
            "//secret.bin": "is an absolute path",
            "..\\secret.bin": "contains a backslash",
            "d.bin\0/../../secret.bin": "contains control characters",
            "d.bin\n": "contains control characters",
            "C:secret.bin": "names a drive",
            "": "has no name",
            "*/_ORT_MEM_ADDR_/": "is a marker for a memory address",
            "%2e%2e/secret.bin": "No such file",
            "....//secret.bin": "No such file",
            "~/secret.bin": "No such file",
            f"file://{self.secret}": "No such file",
            "inner": "is a folder",
            "x" * 100000: "File name too long",
        }.items():
            with self.subTest(location=location[:40]):
                self.model_refused(model(layer(external([("location", location)]))), message)

    def test_every_place(self):
        """The rules apply at every place in a model that contains a tensor."""
        out = external([("location", "../secret.bin")])
        few = external([("location", "../secret.bin")], [2])
        index = external([("location", "../secret.bin")], [2], "i", INT64)
        held = field(1, "value") + field(5, out) + field(20, 4)
        held_sparse = field(1, "sparse_value") + field(22, sparse([0, 1], values=few)) + field(20, 11)
        branch = graph([], outputs=[value("w", [8, 6])], initializers=[out])
        places = {
            "initializer": layer(out),
            "constant": layer(nodes=[node("Constant", [], ["w"], [held]), node("MatMul", ["x", "w"], ["y"])]),
            "list of tensors": layer(weight("w", 8, 6), nodes=[node("Own", ["x", "w"], ["y"], [field(1, "t") + field(10, out) + field(20, 9)])]),
            "sparse": layer(more=field(15, sparse([0, 1], values=few))),
            "sparse indices": layer(more=field(15, field(1, tensor("w", [2], bytes(8))) + field(2, index) + fields(3, [8, 6]))),
            "sparse constant": layer(nodes=[node("Constant", [], ["w"], [held_sparse]), node("MatMul", ["x", "w"], ["y"])]),
            "branch": layer(nodes=[node("If", ["c"], ["y"], [graph_attribute("then_branch", branch)])]),
        }
        for place, body in places.items():
            with self.subTest(place=place):
                self.model_refused(model(body), "contains '..'")
        called = function("F", ["a"], ["b"], [node("Constant", [], ["b"], [held])], "own", 17)
        self.model_refused(model(layer(weight("w", 8, 6)), functions=[called]), "contains '..'")
        self.model_refused(GOOD + field(20, field(1, graph([], initializers=[out]))), "contains '..'")

    def test_links_out(self):
        for name, target in {"link.bin": "../secret.bin", "full.bin": str(self.secret), "up/secret.bin": "..", "root/etc/passwd": "/",
                             "magic/secret.bin": f"/proc/self/root{self.root}"}.items():
            with self.subTest(name=name):
                self.fresh()
                (self.folder / name.split("/")[0]).symlink_to(target)
                self.model_refused(model(layer(external([("location", name)]))), "leads outside of the model's folder")
        self.fresh()
        (self.folder / "endless.bin").symlink_to("endless.bin")
        self.model_refused(model(layer(external([("location", "endless.bin")]))), "leads outside of the model's folder")
        os.mkfifo(self.folder / "pipe.bin")
        self.model_refused(model(layer(external([("location", "pipe.bin")]))), "is not a regular file")

    def test_hard_links(self):
        """Hard links are read like other files of the folder, but never written through."""
        os.link(self.secret, self.folder / "hard.bin")
        self.put(m__onnx=model(layer(external([("location", "hard.bin")]))))
        self.accepted(QUANTIZE)
        self.accepted(["copy", "m.onnx", "-o", "again.onnx"])
        self.assertEqual(self.secret.stat().st_nlink, 2)

    def test_numbers(self):
        self.put(d__bin=bytes(range(192)))
        beyond = "reaches past the end of 'd.bin'"
        cases = [("offset", text, "offset is not a number") for text in ("-1", "9" * 23, " 0", "0x0", "1e2", "", "0 ", "+0", "9" * 100000, "0\0")]
        cases += [("length", text, "length is not a number") for text in ("-192", "1" * 30, "192.0", "")]
        cases += [("offset", str(n), beyond) for n in (1, 192, 193, (1 << 63) - 1, 1 << 63, (1 << 64) - 192, (1 << 64) - 1)]
        cases += [("length", str(n), "bytes of external data where its shape and type need 192") for n in (0, 191, 193, (1 << 64) - 1)]
        for key, text, message in cases:
            with self.subTest(key=key, text=text[:30]):
                self.model_refused(model(layer(external([("location", "d.bin"), (key, text)]))), message)
        self.model_refused(model(layer(external([("location", "d.bin"), ("offset", "0"), ("offset", "8")]))), "names two offsets")
        self.model_refused(model(layer(external([("location", "d.bin"), ("location", "e.bin")]))), "names two files")
        self.model_refused(model(layer(external([("location", "d.bin")], [1 << 40, 1]))), beyond)

    def test_unknown_keys(self):
        """Unknown keys are ignored: the result is the same without them."""
        self.put(d__bin=floats_of([0.01 * i for i in range(48)]), m__onnx=model(layer(external([("location", "d.bin")]))))
        self.accepted(QUANTIZE)
        def weights():
            return self.run_ounce(["inspect", "out.onnx", "--json"]).stdout.split(b'"tensors"')[1]
        expected = weights()
        for key in ("__class__", "__dict__", "basepath", "base_dir", "checksum", "Location", "location ", "", "\x1b[31m"):
            with self.subTest(key=key):
                self.write("m.onnx", model(layer(external([("location", "d.bin"), (key, str(self.secret)), (key, "1" * 1000)]))))
                self.accepted(QUANTIZE)
                self.assertEqual(weights(), expected)


class Written(Hostile):
    """Existing files at the output path are replaced or refused; nothing is written through links."""

    def setUp(self):
        super().setUp()
        self.put(m__onnx=GOOD)

    def test_result(self):
        for put in (lambda path: path.symlink_to(self.secret), lambda path: os.link(self.secret, path)):
            put(self.folder / "out.onnx")
            self.accepted(QUANTIZE)
            self.assertFalse((self.folder / "out.onnx").is_symlink())
            self.assertEqual(self.secret.stat().st_nlink, 1)
            (self.folder / "out.onnx").unlink()

    def test_data_of_the_result(self):
        """The name of a data file follows from its content, so an attacker can predict it."""
        self.put(m__onnx=model(graph([node("MatMul", ["x", "w"], ["y"])], [value("x", ["n", 41])], [value("y", ["n", 37])], [weight("w", 41, 37)])))
        words = [*QUANTIZE, "--external-data", "always"]
        self.accepted(words)
        expected = self.everything()
        data = self.folder / next(name for name in expected if name.endswith(".data"))
        for put in (lambda path: path.symlink_to(self.secret), lambda path: os.link(self.secret, path)):
            (self.folder / "out.onnx").unlink()
            data.unlink()
            put(data)
            self.accepted(words)
            self.assertEqual(self.everything(), expected)
            self.assertEqual(self.secret.stat().st_nlink, 1)

    def test_data_of_a_copy(self):
        content = floats_of([0.01 * i for i in range(48)])
        self.put(d__bin=content, m__onnx=model(layer(external([("location", "d.bin")]))))
        for put in (lambda path: path.symlink_to(self.secret), lambda path: os.link(self.secret, path)):
            there = self.folder / "there"
            there.mkdir()
            put(there / "d.bin")
            self.run_ounce(["copy", "m.onnx", "-o", "there/m.onnx"])
            self.assert_nobody_was_hurt()
            if (there / "m.onnx").exists():  # the data must be correct then
                self.assertEqual((there / "d.bin").read_bytes(), content)
                self.assertFalse((there / "d.bin").is_symlink())
            shutil.rmtree(there)

    def test_other_outputs(self):
        self.put(d__npz=npz(x=npy("f", [4, 8], [0.1 * i for i in range(32)])))
        for words in (["calibrate", "m.onnx", "--data", "d.npz", "-o", "out"], ["contract", "set", "m.onnx", "--rescale", "2", "-o", "out"],
                      ["check", "m.onnx", "--target", "linux-x64@1.30.0", "--required-ops", "out"]):
            for put in (lambda path: path.symlink_to(self.secret), lambda path: os.link(self.secret, path)):
                put(self.folder / "out")
                self.run_ounce(words)
                self.assert_nobody_was_hurt()
                (self.folder / "out").unlink()


class Tensors(Hostile):
    def test_dims(self):
        most = (1 << 63) - 1
        for dims, size, data_type, message in [
            ([-8, 6], 192, FLOAT, "dimension -8 is negative"),
            ([-8, -6], 192, FLOAT, "dimension -8 is negative"),
            ([-(1 << 63)], 0, FLOAT, "is negative"),
            ([1 << 32, 1 << 32], 0, FLOAT, "the product of the dimensions overflows"),
            ([1 << 61, 2], 192, FLOAT, "the product of the dimensions overflows"),
            ([1 << 62], 0, FLOAT, "the product of the dimensions overflows"),
            ([most], 0, INT4, "the product of the dimensions overflows"),
            ([most, most, most], 0, INT4, "the product of the dimensions overflows"),
            ([1 << 40], 4, FLOAT, "bytes of raw data where its shape and type need"),
            ([8, 6], 191, FLOAT, "has 191 bytes of raw data where its shape and type need 192"),
            ([8, 6], 193, FLOAT, "has 193 bytes of raw data where its shape and type need 192"),
            ([8, 6], 0, FLOAT, "has 0 bytes of raw data"),
            ([3], 1, INT4, "has 1 bytes of raw data where its shape and type need 2"),
            ([3], 3, INT4, "has 3 bytes of raw data where its shape and type need 2"),
            ([7, 7], 24, UINT4, "has 24 bytes of raw data where its shape and type need 25"),
            ([1], 1, STRING, "strings cannot be raw data"),
            ([1], 1, 0, "unknown element type 0"),
            ([1], 1, 999, "unknown element type 999"),
            ([1], 1, -1, "unknown element type"),
        ]:
            with self.subTest(dims=dims, size=size, data_type=data_type):
                self.model_refused(model(layer(tensor("w", dims, bytes(size), data_type))), message)
        self.model_refused(model(layer(fields(1, [8, 6]) + field(2, FLOAT) + field(8, "w") + field(4, bytes(4)))), "has 1 values where its shape needs 48")
        self.model_refused(model(layer(fields(1, [1 << 40]) + field(2, FLOAT) + field(8, "w"))), "has 0 values where its shape needs")
        # Four unused bits after the values, and a shape without values whose product overflows.
        for dims, raw, data_type in ([3], bytes(2), INT4), ([0, most, most], b"", FLOAT):
            self.write("m.onnx", model(layer(weight("w", 8, 6), tensor("other", dims, raw, data_type))))
            self.accepted(QUANTIZE)

    def test_sparse(self):
        for indices, shape, message in [
            ([0, 48], None, "has the sparse index 48, which lies outside of it"),
            ([-1, 3], None, "has the sparse index -1"),
            ([0, 1 << 62], None, "has the sparse index 4611686018427387904"),
            ([0, 1, 8, 0], [2, 2], "has the sparse index 8"),
            ([0, 6, 1, 0], [2, 2], "has the sparse index 6"),
            ([0, 1, 2], [3, 1], "sparse indices whose shape does not match"),
        ]:
            with self.subTest(indices=indices):
                self.model_refused(model(layer(more=field(15, sparse(indices, shape=shape)))), message)
        self.model_refused(model(layer(more=field(15, sparse([0, 1], (1 << 40, 1 << 40))))), "the product of the dimensions overflows")
        three = sparse([0, 1, 2], values=tensor("w", [2], bytes(8)))
        self.model_refused(model(layer(more=field(15, three))), "has 3 sparse indices for 2 values")

    def test_declared_otherwise(self):
        """A value_info entry of an initializer is ignored, unless a node outputs the value."""
        for declared in (value("w", [8, 6], INT64), value("w", [3], FLOAT), value("w", [8, 6], STRING)):
            self.write("m.onnx", model(layer(weight("w", 8, 6), more=field(13, declared))))
            for to in ("w8", "w4", "w16", "fp16", "int8-dynamic"):
                with self.subTest(to=to):
                    self.accepted(["quantize", "m.onnx", "-o", "out.onnx", "--min-bytes", "0", "--to", to])


class Messages(Hostile):
    def test_wire(self):
        body = field(7, layer(weight("w", 8, 6)))
        for content, message in [
            (varint(99 << 3) + b"\x80" * 10 + b"\1" + body, "a number is longer than 10 bytes"),
            (varint(99 << 3 | 2) + varint((1 << 64) - 1) + body, "reaches past the end of its message"),
            (varint(99 << 3 | 2) + varint((1 << 32) + 2) + b"ab" + body, "reaches past the end of its message"),
            (varint(99 << 3 | 3) + body, "unknown wire type"),
            (varint(0) + b"\1" + body, "field number 0 or out of range"),
            (field(1, b"8") + body, "field 1 has the wrong wire type"),
            (field(7, 8), "field 7 has the wrong wire type"),
            (body + body, "appears twice"),
            (field(1, 8), "graph"),
        ]:
            with self.subTest(message=str(message)):
                self.model_refused(content, message)

    def test_nesting(self):
        deep = graph([node("Relu", ["x"], ["z"])])
        for _ in range(3000):
            deep = graph([node("If", ["c"], ["z"], [graph_attribute("then_branch", deep)])])
        self.model_refused(model(deep), "graphs are nested more than 64 deep")
        inside = [node("If", ["a"], ["b"], [graph_attribute("then_branch", deep)])]
        self.model_refused(model(layer(weight("w", 8, 6)), functions=[function("F", ["a"], ["b"], inside, "own", 17)]), "graphs are nested more than 64 deep")
        kind = field(1, field(1, FLOAT))
        for _ in range(20000):
            kind = field(4, field(1, kind))
        self.model_refused(model(layer(weight("w", 8, 6), more=field(13, field(1, "q") + field(2, kind)))), "types are nested more than 64 deep")

    def test_contract_inside(self):
        """The metadata of a model is untrusted text, too."""
        def with_contract(text):
            return GOOD + field(14, field(1, "ounce.contract") + field(2, text))
        for text, message in [("[" * 200000, "nested more than"), ("{", "is not JSON"), ('{"version": 1e999}', "out of range"), ("\xff\0", "is not JSON"),
                              ('{"inputs": {"x": {"kind": "image", "size": {"height": -1}}}}', "size")]:
            with self.subTest(text=text[:20]):
                self.fresh()
                self.write("m.onnx", with_contract(text))
                self.refused(["contract", "show", "m.onnx"], message)

    def test_statement_inside(self):
        def with_statement(text):
            return GOOD + field(14, field(1, "ounce.statement") + field(2, text))
        start = '{"version": 1, "content": "", '
        for text, message in [("[" * 200000, "nested more than"), ("{", "is not JSON"), ("[]", "is invalid, or was written by a newer"), ('{"version": 2}', "is invalid, or was written by a newer"),
                              (start + '"recipe": {"format": "w5"}}', "is invalid, or was written by a newer"), (start + '"recipe": 1}', "is invalid, or was written by a newer"),
                              (start + '"recipe": {"format": "w8", "nodes": [1]}}', "is invalid, or was written by a newer"),
                              (start + '"recipe": {"format": "w8"}, "calibration": {"part": [0, 0]}}', "is invalid, or was written by a newer"),
                              (start + '"recipe": {"format": "w8"}, "gate": {}}', "is invalid, or was written by a newer")]:
            with self.subTest(text=text[:80]):
                self.fresh()
                self.write("m.onnx", with_statement(text))
                self.refused(["prove", "m.onnx"], message)


class Graphs(Hostile):
    def test_meaning(self):
        def called(*functions):
            return model(layer(weight("w", 8, 6), nodes=[node("F", ["x", "w"], ["y"], domain="own")]), other_opsets=[opset(1, "own")], functions=functions)

        def calling(name, other):
            return function(name, ["a", "b"], ["c"], [node(other, ["a", "b"], ["c"], domain="own")], "own", 17)
        plain = function("F", ["a", "b"], ["c"], [node("MatMul", ["a", "b"], ["c"])], "own", 17)
        w = weight("w", 8, 6)
        matmul = node("MatMul", ["x", "w"], ["y"])
        for content, message in [
            (called(calling("F", "F")), "function F: is recursive"),
            (called(calling("F", "G"), calling("G", "H"), calling("H", "G")), "is recursive"),
            (called(plain, plain), "function 'F': is defined twice"),
            (model(layer(w, w)), "initializer 'w' is defined twice"),
            (model(layer(w, nodes=[matmul, node("Relu", ["x"], ["y"])])), "'y' is defined twice"),
            (model(layer(w, nodes=[node("MatMul", ["z", "w"], ["y"]), node("Relu", ["y"], ["z"])])), CYCLE),
            (model(layer(w, nodes=[node("MatMul", ["y", "w"], ["y"])])), CYCLE),
            (model(layer(w, nodes=[node("MatMul", ["nowhere", "w"], ["y"])])), "uses 'nowhere', which nothing defines"),
            (model(layer(w, nodes=[matmul], more=field(12, value("nowhere", [1])))), "nowhere"),
            (model(layer(w, nodes=[matmul], more=field(11, value("x", [1])))), "'x' is defined twice"),
            (model(layer(w), version=1 << 40), "which is not a valid version"),
        ]:
            with self.subTest(message=str(message)):
                self.model_refused(content, message)


class DataTest(Hostile):
    """Archives of arrays for one small model."""
    OK = npy("f", [4, 8], [0.1 * i for i in range(32)])

    def setUp(self):
        super().setUp()
        self.put(m__onnx=GOOD)

    def zip(self, *entries, method=zipfile.ZIP_DEFLATED):
        buffer = io.BytesIO()
        with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
            warnings.simplefilter("ignore")
            for name, content in entries:
                archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, compress_type=method)
        return buffer.getvalue()

    def archive_refused(self, content, message):
        self.write("d.npz", content)
        self.refused(["calibrate", "m.onnx", "--data", "d.npz", "-o", "out.ranges"], message)


class Archives(DataTest):
    def test_names(self):
        """Entries are named arrays; nothing is extracted to files."""
        for name in ("../evil.npy", "../../../../tmp/evil.npy", str(self.root / "evil.npy"), "..\\evil.npy", "a/../../evil.npy"):
            with self.subTest(name=name):
                self.write("d.npz", self.zip((name, self.OK), ("x.npy", self.OK)))
                self.accepted(["calibrate", "m.onnx", "--data", "d.npz", "-o", "out.ranges"])
                self.assertEqual(sorted(self.everything()), ["d.npz", "m.onnx", "out.ranges"])
                (self.folder / "out.ranges").unlink()
        self.archive_refused(self.zip(("x.npy", self.OK), ("x.npy", self.OK)), "has two entries named 'x.npy'")
        self.archive_refused(self.zip(("x.npy", self.OK)).replace(b"x.npy", b"x\0npy"), "a name in it has control characters")

    def zip64(self, size, packed, offset):
        name, content = b"x.npy", self.OK
        local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 0, zlib.crc32(content), 0xFFFFFFFF, 0xFFFFFFFF, len(name), 20)
        local += name + struct.pack("<HHQQ", 1, 16, size, packed) + content
        entry = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 0, 0, 0, 0, zlib.crc32(content), 0xFFFFFFFF, 0xFFFFFFFF, len(name), 28, 0,
                            0, 0, 0, 0xFFFFFFFF)
        entry += name + struct.pack("<HHQQQ", 1, 24, size, packed, offset)
        return local + entry + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, len(entry), len(local), 0)

    def test_lies(self):
        size = len(self.OK)
        self.archive_refused(self.zip64(1 << 62, 1 << 62, 0), "reaches past the end of the archive")
        self.archive_refused(self.zip64(size, (1 << 64) - 1, 0), "its two sizes differ")
        self.archive_refused(self.zip64(size, size, (1 << 64) - 30), "is not at the offset in the directory")
        self.archive_refused(self.zip64(size, size, 1 << 40), "is not at the offset in the directory")
        stored = bytearray(self.zip(("x.npy", self.OK), ("y.npy", self.OK), method=zipfile.ZIP_STORED))
        last = stored.rfind(b"PK\1\2")
        stored[last + 42:last + 46] = bytes(4)  # both entries are the same bytes
        self.archive_refused(bytes(stored), "differs between the directory and its own header")
        one = bytearray(self.zip(("x.npy", self.OK), method=zipfile.ZIP_STORED))
        one[-14:-10] = b"\xff\xff\xff\xff"
        self.archive_refused(bytes(one), "its directory is too short for its entries")

    def test_bombs(self):
        """Small files must not need much memory, and claimed sizes must not be allocated."""
        def array(shape, content):
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
            return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content
        self.archive_refused(self.zip(("x.npy", array("(1, 16777216)", bytes(64 << 20)))), "a sample is [16777216], but the input 'x' is float32[n,8]")
        self.archive_refused(self.zip(("x.npy", array("(100000000000, 8)", bytes(1 << 20)))), "needs 3200000000000")
        self.archive_refused(self.zip(("x.npy", array(f"({(1 << 63) - 1}, {(1 << 63) - 1})", b""))), "is too large for memory")


class Arrays(DataTest):
    """.npy files, alone and in .npz."""

    def header(self, descr, shape="(4, 8)", more=""):
        header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, {more}}}"
        header = header.ljust(len(header) + -(len(header) + 11) % 64) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()

    def test_code(self):
        """Content of an array is never executed or evaluated."""
        pickle = b"cos\nsystem\n(S'touch evil'\ntR."
        for content, message in [
            (self.header("'|O'") + pickle, "contains Python objects"),
            (pickle, "is not a .npy file"),
            (self.header("__import__('os').system('touch evil')") + bytes(128), "its header is broken"),
            (self.header("'<f4'", "__import__('os').system('touch evil')") + bytes(128), "its header is broken"),
            (self.header("'<f4'", "(4, 8) + (1,)") + bytes(128), "its header is broken"),
            (self.header("[('a', '<f4')]") + bytes(128), "has columns with names"),
            (self.header("'<f4'", "(-4, 8)") + bytes(128), "its header is broken"),
            (self.header("'<f4'", "(" + "1, " * 5000 + ")") + bytes(4), "has more than 64 axes"),
            (self.header("'<f4'", "(4, " * 10000) + bytes(128), "its header is broken"),
            (self.header("'<f999999999999999999999'") + bytes(128), "which is not supported"),
            (self.header("'<f4'", more="'shape': (1, 8), ") + bytes(128), "its header is broken"),
        ]:
            with self.subTest(content=content[10:60]):
                self.archive_refused(self.zip(("x.npy", content)), message)
                self.write("d.npy", content)
                self.refused(["calibrate", "m.onnx", "--data", "d.npy", "-o", "out.ranges"], message)


class Media(Hostile):
    IMAGE = ["--kind", "image", "--size", "4x4", "--rescale", "1/255", "--layout", "nchw", "--color", "rgb"]
    SOUND = ["--kind", "audio", "--rescale", "1/32768", "--length", "8", "--rate", "16000"]

    def picture_refused(self, name, content, message):
        with self.subTest(message=message):
            self.fresh()
            self.put(m__onnx=model(graph([node("Flatten", ["x"], ["f"]), node("MatMul", ["f", "w"], ["y"])], [value("x", [1, 3, 4, 4])],
                                         [value("y", [1, 6])], [weight("w", 48, 6)])))
            self.write(f"pictures/{name}", content)
            self.refused(["calibrate", "m.onnx", "--data", "pictures", "-o", "out.ranges", *self.IMAGE], message)

    def test_png(self):
        def picture(width, height, pixels):
            def chunk(kind, data):
                return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                    chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b""))
        self.picture_refused("a.png", picture((1 << 31) - 1, (1 << 31) - 1, b""), "is too large")
        self.picture_refused("a.png", picture(100000, 100000, b""), "is too large")
        self.picture_refused("a.png", picture(8192, 8192, bytes(1000)), "cannot contain 8192 x 8192 pixels")
        self.picture_refused("a.png", picture(1 << 31, 1, b""), "damaged PNG")
        self.picture_refused("a.png", picture(0, 0, b""), "damaged PNG")
        self.picture_refused("a.png", picture(4, 4, bytes(52))[:33] + b"\xff\xff\xff\xffIDAT", "damaged PNG")
        self.picture_refused("a.png", picture(4, 4, bytes(64 << 20)), "Too much image data")
        self.picture_refused("a.png", b"#!/bin/sh\n", "neither a JPEG nor a PNG file")

    def test_jpg(self):
        def picture(height, width, rest=b"\xff\xd9", components=1):
            tables = b"\xff\xd8\xff\xdb\x00\x43\x00" + b"\1" * 64
            return tables + b"\xff\xc0\x00\x0b\x08" + struct.pack(">HH", height, width) + bytes([components]) + b"\x01\x11\x00" + rest
        scan = b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" + bytes(20) + b"\xff\xd9"
        self.picture_refused("a.jpg", picture(65535, 65535), "damaged JPEG")
        self.picture_refused("a.jpg", picture(65535, 65535, scan), "damaged JPEG")
        self.picture_refused("a.jpg", picture(65000, 65000, scan), "is too large")
        self.picture_refused("a.jpg", picture(0, 0), "damaged JPEG")
        self.picture_refused("a.jpg", picture(8, 8, components=255), "damaged JPEG")
        self.picture_refused("a.jpg", b"\xff\xd8\xff\xdb\xff\xff\x00", "ends too early")

    def test_wav(self):
        good = wav(16000, range(8))
        self.put(m__onnx=model(graph([node("MatMul", ["x", "w"], ["y"])], [value("x", [1, 8])], [value("y", [1, 6])], [weight("w", 8, 6)])))
        for at, content, message in [
            (40, b"\xff\xff\xff\xff", "is truncated"), (40, b"\xff\xff\xff\x7f", "is truncated"), (16, b"\xff\xff\xff\x7f", "is truncated"),
            (16, bytes(4), "its format is too short"), (4, bytes(4), "has no format chunk before its data chunk"), (22, bytes(2), "it has no channels"),
            (22, b"\xff\xff", "the size of its frames"), (24, bytes(4), "its sampling rate is 0"), (32, bytes(2), "the size of its frames"),
            (34, bytes(2), "0-bit PCM"), (34, b"\xff\xff", "65535-bit PCM"), (24, b"\xff\xff\xff\xff", "4294967295 samples per second"),
        ]:
            with self.subTest(at=at, content=content):
                self.write("a.wav", good[:at] + content + good[at + len(content):])
                self.refused(["calibrate", "m.onnx", "--data", "a.wav", "-o", "out.ranges", *self.SOUND], message)


class Lists(Hostile):
    def list_refused(self, kind, content, message, code=2):
        with self.subTest(content=content[:60]):
            self.put(m__onnx=model(graph([node("Flatten", ["x"], ["f"]), node("MatMul", ["f", "w"], ["y"])], [value("x", [1, 3, 4, 4])],
                                         [value("y", [1, 6])], [weight("w", 48, 6)])))
            self.write(f"list.{kind}", content)
            self.write("in.png", png(4, 4, range(48)))
            self.refused(["calibrate", "m.onnx", "--data", f"list.{kind}", "-o", "out.ranges", *Media.IMAGE], message, code)

    def test_names(self):
        """A list may name any readable image and no other files; the content of other files is never shown."""
        os.mkfifo(self.folder / "pipe.png")
        shutil.copy(self.secret, self.folder / "text.png")
        no_data = "is not a .jpg, .png, .wav or .npy file"
        for name, message, code in [
            ("../secret.bin", no_data, 2), (str(self.secret), no_data, 2), ("/proc/self/environ", no_data, 2), ("list.csv", no_data, 2),
            ("text.png", "neither a JPEG nor a PNG file", 2), ("/dev/zero", "is not a regular file", 4), ("pipe.png", "is not a regular file", 4),
            (".", "is a folder", 4), ("a" * 100000 + ".png", "File name too long", 4), ("in.png\0.bin", no_data, 2),
        ]:
            self.list_refused("csv", f"file\n{name}\n", message, code)
            text = name.replace("\0", "\\u0000")
            self.list_refused("jsonl", f'{{"file": "{text}"}}\n'.replace("list.csv", "list.jsonl"), message, code)

    def test_texts(self):
        self.list_refused("csv", 'file\n"' + "a" * 1000000 + "\n", "a quoted cell has no closing quote")
        self.list_refused("jsonl", '{"file": ' + "[" * 100000 + "}\n", "nested more than")
        self.list_refused("jsonl", '{"file": "in.png", "file": 1e999}\n', "out of range")
        self.list_refused("jsonl", '{"file": "in.png"}\0\n', "is not JSON")
        self.list_refused("jsonl", '{"file": ["in.png", "in.png"]}\n', "not string[2]")


class Texts(Hostile):
    def setUp(self):
        super().setUp()
        self.put(m__onnx=GOOD)

    def test_contracts(self):
        def of_x(text):
            return f'{{"inputs": {{"x": {text}}}}}'
        for kind, content, message in [
            ("json", "[" * 200000, "nested more than"), ("json", of_x('{"rescale_factor": NaN}'), "is not JSON"),
            ("json", of_x('{"rescale_factor": 1e999}'), "out of range"), ("json", of_x('{"kind": "image", "image_std": [0, 0, 0]}'), "std must not be 0"),
            ("json", of_x('{"kind": "image", "size": {"height": 99999999999999999999, "width": 1}}'), "must be a whole number"),
            ("json", of_x('{"kind": "image", "size": {"height": 2147483647, "width": 2147483647}}'), "must be a whole number"),
            ("json", of_x('{"kind": "image", "size": {"height": -1, "width": 4}}'), "must be a whole number"),
            ("json", of_x('{"kind": "audio", "max_length": 9223372036854775807}'), "must be a whole number"),
            ("json", b'{"inputs": {"\xff": {}}}', "is not JSON"), ("json", of_x('{"rescale_factor": 2}') + "\0", "is not JSON"), ("json", " " * (17 << 20), "is longer than 16 MiB"),
            ("toml", "[inputs.x]\nrescale_factor = inf\n", "must be a number"), ("toml", "a = " + "[" * 100000, "is nested more than 16 deep"),
            ("toml", "a." * 100000 + "b = 1", "is nested more than 16 deep"), ("toml", "[inputs.x]\nkind = 1979-05-27\n", "has a date, which contracts do not allow"),
        ]:
            with self.subTest(content=content[:60]):
                self.write(f"c.{kind}", content)
                self.refused(["contract", "set", "m.onnx", "-o", "out.onnx", "--contract", f"c.{kind}"], message)

    def test_ranges(self):
        self.put(d__npz=npz(x=DataTest.OK))
        self.accepted(["calibrate", "m.onnx", "--data", "d.npz", "-o", "good.ranges"])
        good = (self.folder / "good.ranges").read_bytes()
        for content in (b"", b"text", good[:12], good[:12] + b"\xff" * 4000, good[:len(good) // 2], good[:-2], good + b"\0", good + good, good + b"x"):
            with self.subTest(size=len(content)):
                self.write("r.ranges", content)
                self.refused(["quantize", "m.onnx", "-o", "out.onnx", "--to", "int8", "--ranges", "r.ranges"], "r.ranges")

    def test_options(self):
        for content, message in [(b"[quantize]\n" + b"a." * 200000, "is nested more than 64 deep"), (b"x = 1\n" * 300000, "is larger than 1 MiB"),
                                 (b"[quantize]\nthreads = 99999999999999\n", "is not in the range"), (b"[quantize]\nmin-bytes = -1\n", "is not a whole number"),
                                 (b"[quantize]\nhalf-share = nan\n", "is not a number"), (b"[quantize]\nto = \"w8\\u0000\"\n", "--to")]:
            with self.subTest(content=content[:40]):
                self.write("c.toml", content)
                self.refused(["--config", "c.toml", "quantize", "m.onnx", "-o", "out.onnx"], message)
        self.refused(["--config", "/dev/zero", "quantize", "m.onnx", "-o", "out.onnx"], "is not a regular file")

    def test_expressions(self):
        self.put(m__onnx=model(layer(weight("w", 8, 6), nodes=[node("MatMul", ["x", "w"], ["y"], name="a" * 60)])))
        for expression in ("(a+)+$b", "(((((a*)*)*)*)*)*b", "(a|aa)+b", "(a|a)*b", ".*.*.*.*.*.*.*.*b"):
            with self.subTest(expression=expression):
                self.refused([*QUANTIZE, "--exclude", expression], "matches no tensor")
        for expression in ("(" * 100000, "a{1000}{1000}{1000}", "[", "\\", "(?=a)"):
            with self.subTest(expression=expression[:30]):
                self.refused([*QUANTIZE, "--exclude", expression], "is not a regular expression")


class Packages(Hostile):
    """Core ML: a folder with a manifest, a program, and a weight file that the program names by offsets."""

    PROGRAM, WEIGHTS = "Data/com.apple.CoreML/model.mlmodel", "Data/com.apple.CoreML/weights/weight.bin"
    QUANTIZE = ["quantize", "net.mlpackage", "-o", "out.mlpackage", "--min-bytes", "0"]

    @staticmethod
    def tensor_type(*dims):
        shape = b"".join(field(3, field(1, field(1, dim))) for dim in dims)
        return field(1, field(1, 11) + field(2, len(dims)) + shape)

    def constant(self, name, offset, file="@model_path/weights/weight.bin", dims=(16, 8)):
        value = field(2, self.tensor_type(*dims)) + field(5, field(1, file) + field(2, offset))
        output = field(1, name) + field(2, self.tensor_type(*dims))
        return field(3, field(1, "const") + field(3, output) + field(5, field(1, "val") + field(2, value)))

    def program(self, *constants, operations=b"", output="w"):
        block = field(2, output) + b"".join(constants) + operations
        function = field(2, "CoreML6") + field(3, field(1, "CoreML6") + field(2, block))
        return field(1, 7) + field(2, b"") + field(502, field(1, 1) + field(2, field(1, "main") + field(2, function)))

    @staticmethod
    def blob(size=512, offset=128, mark=0xDEADBEEF, kind=2):
        return struct.pack("<IIQQQ32x", mark, kind, size, offset, 0)

    def package(self, program=None, weights=None, manifest=None):
        self.fresh()
        self.write("net.mlpackage/Manifest.json", manifest or """{"itemInfoEntries": {"A": {"path": "com.apple.CoreML/model.mlmodel"}},
                   "rootModelIdentifier": "A"}""")
        self.write("net.mlpackage/" + self.PROGRAM, self.program(self.constant("w", 64)) if program is None else program)
        header = struct.pack("<II56x", 1, 2)
        self.write("net.mlpackage/" + self.WEIGHTS, header + self.blob() + bytes(512) if weights is None else weights)

    def package_refused(self, message, code=2, **parts):
        with self.subTest(message=message):
            self.package(**parts)
            self.refused(self.QUANTIZE, message, code)
            self.refused(["inspect", "net.mlpackage"], message, code)

    def test_as_it_should_be(self):
        self.package()
        self.accepted(["inspect", "net.mlpackage"])

    def test_paths_out(self):
        for path in ("../../../secret.bin", "/etc/passwd", "a/../../../../secret.bin", ""):
            self.package_refused("leads outside of the package", manifest=json.dumps(
                {"itemInfoEntries": {"A": {"path": path}}, "rootModelIdentifier": "A"}))
        for name in ("@model_path/../../../../secret.bin", "/etc/passwd", "../secret.bin", "@model_path/", "weights/weight.bin"):
            self.package_refused("is outside of the package", program=self.program(self.constant("w", 64, name)))

    def test_links_out(self):
        for name in (self.PROGRAM, self.WEIGHTS, "Manifest.json"):
            with self.subTest(name=name):
                self.package()
                (self.folder / "net.mlpackage" / name).unlink()
                (self.folder / "net.mlpackage" / name).symlink_to(self.secret)
                self.refused(self.QUANTIZE, "leads outside of the model's folder")
        self.package()
        shutil.rmtree(self.folder / "net.mlpackage/Data/com.apple.CoreML/weights")
        (self.folder / "net.mlpackage/Data/com.apple.CoreML/weights").symlink_to(self.root)
        self.refused(self.QUANTIZE, re.compile("leads outside of the model's folder|cannot open"))
        self.package()
        (self.folder / "net.mlpackage" / self.WEIGHTS).unlink()
        os.mkfifo(self.folder / "net.mlpackage" / self.WEIGHTS)
        self.refused(self.QUANTIZE, "is not a regular file", 4)

    def test_offsets(self):
        header = struct.pack("<II56x", 1, 2)
        for offset in (0, 63, 65, 1 << 20, (1 << 63) + 64, (1 << 64) - 64):
            self.package_refused("not a valid weight file", program=self.program(self.constant("w", offset)))
        for lie in (self.blob(size=1 << 62), self.blob(size=513), self.blob(offset=(1 << 64) - 8), self.blob(offset=64),
                    self.blob(mark=0), self.blob(kind=1), self.blob(size=0)):
            self.package_refused("not a valid weight file", weights=header + lie + bytes(512))
        self.package_refused("not a valid weight file", weights=b"")
        self.package_refused("not a valid weight file", program=self.program(self.constant("w", 64, dims=(1 << 31, 1 << 31, 4))))

    def test_overlaps(self):
        weights = struct.pack("<II56x", 2, 2) + self.blob(offset=192) + self.blob(offset=192 + 64) + bytes(1024)
        program = self.program(self.constant("w", 64), self.constant("v", 128))
        self.package_refused("share their bytes", program=program, weights=weights)

    def test_names(self):
        def relu(source, name):
            return field(3, field(1, "relu") + field(2, field(1, "x") + field(2, field(1, field(1, source)))) +
                         field(3, field(1, name) + field(2, self.tensor_type(16, 8))))

        self.package_refused("before it is defined", program=self.program(operations=relu("b", "a") + relu("a", "b"), output="b"))
        self.package_refused("is defined twice", program=self.program(self.constant("w", 64), self.constant("w", 64)))

    def test_nesting(self):
        block = b""
        for _ in range(3000):
            block = field(3, field(1, "cond") + field(4, block))
        self.package_refused("nested more than", program=self.program(operations=block))

    def test_truncation(self):
        whole = self.program(self.constant("w", 64))
        for size in range(0, len(whole), 9):
            self.package(program=whole[:size])
            self.refused(["inspect", "net.mlpackage"], re.compile("not a valid|not a Core ML|is empty"))

    def test_manifests(self):
        for text in ("[]", "{", "\xff", '{"rootModelIdentifier": "A"}', '{"itemInfoEntries": {"B": 1}, "rootModelIdentifier": "A"}',
                     "[" * 100000):
            self.package_refused("manifest", manifest=text)


class Poison(Hostile):
    """No byte of a result comes from uninitialized memory: it does not depend on the content of the heap."""

    HEAPS = [{}, {"MALLOC_PERTURB_": "85"}, {"MALLOC_PERTURB_": "170", "FILL": "x" * 5000},
             {"GLIBC_TUNABLES": "glibc.malloc.perturb=255:glibc.malloc.tcache_count=0:glibc.malloc.mmap_threshold=4096"}]
    FORMATS = [["--to", "w8"], ["--to", "w8", "--decode", "dq", "--asymmetric"], ["--to", "w8", "--external-data", "always"],
               ["--to", "w8", "--codebook"], ["--to", "w4"], ["--to", "w4", "--decode", "dq"], ["--to", "w4", "--granularity", "block:16", "--asymmetric"],
               ["--to", "w4", "--codebook"], ["--to", "w16"], ["--to", "fp16"], ["--to", "bf16"], ["--to", "int8-dynamic", "--dynamic-conv"],
               ["--to", "int8-dynamic", "--weights", "u8", "--fallback", "fp16"], ["--to", "w8", "--node", "y=w4", "--external-data", "always"]]
    STATIC = [["--dialect", "qdq"], ["--dialect", "qoperator"], ["--weights", "s4", "--no-search"]]

    @staticmethod
    def models():
        """Odd sizes: half bytes, rows that are not multiples of a vector, gaps between tensors of a data file."""
        odd = graph([node("MatMul", ["x", "w"], ["h"]), node("Add", ["h", "b"], ["s"]), node("Relu", ["s"], ["r"]), node("Gemm", ["r", "v", "c"], ["y"])],
                    [value("x", ["n", 13])], [value("y", ["n", 7])], [weight("w", 13, 211), weight("b", 211), weight("v", 211, 7), weight("c", 7)])
        conv = graph([node("Conv", ["x", "w", "b"], ["c"], [attribute("pads", [1, 1, 1, 1])]), node("Relu", ["c"], ["r"]),
                      node("Conv", ["r", "v"], ["y"])],
                     [value("x", [1, 3, 5, 7])], [value("y", [1, 5, 3, 5])], [weight("w", 7, 3, 3, 3), weight("b", 7), weight("v", 5, 7, 3, 3)])
        mixed = graph([constant("k", weight("k", 9, 9)), node("Gather", ["t", "ids"], ["e"]), node("MatMul", ["e", "k"], ["m"]),
                       node("LSTM", ["m", "w", "r"], ["y"], [attribute("hidden_size", 5)])],
                      [value("ids", [3, 1], INT64)], [value("y", [3, 1, 1, 5])],
                      [weight("t", 17, 9), weight("w", 1, 20, 9), weight("r", 1, 20, 5)])
        return {
            "odd": (model(odd), npy("f", [6, 13], [0.03 * (i % 29) - 0.4 for i in range(78)])),
            "conv": (model(conv), npy("f", [3, 3, 5, 7], [0.02 * (i % 101) - 1 for i in range(315)])),
            "mixed": (model(mixed, version=14), npy("q", [12, 1], [i % 17 for i in range(12)])),
        }

    def results(self, words, heap):
        for path in list(self.folder.glob("out*")):
            path.unlink()
        done = self.run_ounce(words, **heap)
        self.assertIn(done.returncode, (0, 3), done.stderr.decode())  # 3: nothing to do
        return done.returncode, {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(self.folder.glob("out*"))}

    def assert_same(self, words):
        with self.subTest(words=words):
            first = self.results(words, self.HEAPS[0])
            for heap in self.HEAPS[1:]:
                self.assertEqual(self.results(words, heap), first)
            self.seen += first[0] == 0

    def test_every_format(self):
        self.seen = 0
        for name, (content, data) in self.models().items():
            self.put(m__onnx=content, d__npz=npz(**{"ids" if name == "mixed" else "x": data}))
            for words in self.FORMATS:
                self.assert_same(["quantize", "m.onnx", "-o", "out.onnx", "--no-verify", "--min-bytes", "0", *words])
            for words in self.STATIC:
                self.assert_same(["quantize", "m.onnx", "-o", "out.onnx", "--no-verify", "--min-bytes", "0", "--to", "int8", "--data", "d.npz", *words])
            self.assert_same(["calibrate", "m.onnx", "--data", "d.npz", "-o", "out.ranges"])
            self.assert_same(["contract", "set", "m.onnx", "--rescale", "2", *(["--for", "x"] if name != "mixed" else []), "-o", "out.onnx"])
            self.assert_same(["copy", "m.onnx", "-o", "out.onnx"])
        self.assertGreater(self.seen, 40)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    options, others = parser.parse_known_args()
    OUNCE = options.ounce
    unittest.main(argv=[sys.argv[0], *others])
