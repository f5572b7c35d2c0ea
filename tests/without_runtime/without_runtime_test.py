"""A program that was built without ONNX Runtime stores the same bytes, and refuses what would run a model."""

import argparse
import pathlib
import subprocess
import tempfile
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("--with", dest="with_runtime", required=True)
parser.add_argument("--without", required=True)
parser.add_argument("--model", required=True)
given, rest = parser.parse_known_args()


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=120)


class WithoutRuntime(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_weights_become_the_same_bytes(self):
        for words in (["w8"], ["w4"], ["w16"], ["int4"], ["w8", "--codebook"]):
            with self.subTest(words):
                outputs = []
                for program in given.with_runtime, given.without:
                    output = self.folder / f"{pathlib.Path(program).name}.onnx"
                    done = run(program, "quantize", given.model, "--to", *words, "-o", str(output), "--no-verify")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    outputs.append(output.read_bytes())
                self.assertEqual(*outputs)

    def test_what_needs_no_run_is_answered(self):
        for words in (["inspect", given.model], ["check", given.model, "--target", "linux-x64@1.30.0"]):
            with self.subTest(words):
                first, second = run(given.with_runtime, *words), run(given.without, *words)
                self.assertEqual((second.returncode, second.stdout), (first.returncode, first.stdout), second.stderr)

    def test_what_runs_a_model_is_refused(self):
        for words in (["verify", given.model, given.model], ["bench", given.model], ["advise", given.model],
                      ["sensitivity", given.model], ["tune", given.model, "-o", str(self.folder / "t.onnx")]):
            with self.subTest(words):
                done = run(given.without, *words)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("built without ONNX Runtime", done.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[__file__, *rest])
