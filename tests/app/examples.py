"""Runs the programs of examples/app on generated data.

usage: examples.py OUNCE FRAMES MICROPHONE
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import wave

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import onnx_bytes as onnx  # noqa: E402


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def must(has, wants):
    if has != wants:
        sys.exit(f"printed\n{has}\ninstead of\n{wants}")


ounce, frames, microphone = (pathlib.Path(path).resolve() for path in sys.argv[1:])
with tempfile.TemporaryDirectory() as folder:
    here = pathlib.Path(folder)
    # The class is the color channel with the largest mean.
    body = onnx.graph([onnx.node("GlobalAveragePool", ["image"], ["mean"]), onnx.node("Flatten", ["mean"], ["scores"])],
                      [onnx.value("image", ["N", 3, 4, 4])], [onnx.value("scores", ["N", 3])])
    (here / "colours.onnx").write_bytes(onnx.model(body))
    (here / "colours.toml").write_text('[inputs.image]\nkind = "image"\nsize = { height = 4, width = 4 }\nrescale_factor = 0.00392\nlayout = "nchw"\n')
    run(ounce, "contract", "set", here / "colours.onnx", "-o", here / "model.onnx", "--contract", here / "colours.toml")
    width, height = 8, 6
    for name, colour in (("red", (250, 10, 20, 255)), ("blue", (30, 10, 240, 255))):
        (here / f"{name}.rgba").write_bytes(bytes(colour) * (width * height))
        luma = round(.299 * colour[0] + .587 * colour[1] + .114 * colour[2])
        differences = [round(128 + (colour[2] - luma) / 1.772), round(128 + (colour[0] - luma) / 1.402)]
        (here / f"{name}.nv12").write_bytes(bytes([luma]) * (width * height) + bytes(differences) * (width * height // 4))
    for layout, rotation in (("rgba", 0), ("nv12", 90)):
        said = subprocess.run([frames, "model.onnx", str(width), str(height), layout, str(rotation), f"red.{layout}", f"blue.{layout}"],
                              cwd=folder, capture_output=True, text=True, check=True).stdout
        must(said, f"red.{layout}: class 0\nblue.{layout}: class 2\n")

    # y is the sum of all samples so far, which needs the recurrent state.
    body = onnx.graph([onnx.node("ReduceSum", ["x", "axes"], ["sum"]), onnx.node("Add", ["sum", "before"], ["y"]),
                       onnx.node("Identity", ["y"], ["after"])],
                      [onnx.value("x", ["N", 4]), onnx.value("before", ["N", 1])],
                      [onnx.value("y", ["N", 1]), onnx.value("after", ["N", 1])], [onnx.ints("axes", 1)])
    (here / "sum.onnx").write_bytes(onnx.model(body))
    run(ounce, "contract", "set", here / "sum.onnx", "-o", here / "stream.onnx", "--for", "x", "--kind", "audio", "--frame", 4, "--hop", 4,
        "--rescale", "1/8")
    samples = [(i * 7) % 11 - 5 for i in range(342)]
    with wave.open(str(here / "sound.wav"), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    said = subprocess.run([microphone, "stream.onnx", "sound.wav", "before=after"], cwd=folder, capture_output=True, text=True,
                          check=True).stdout
    must(said, "".join(f"frame {i}: y {sum(samples[:4 * i + 4]) / 8:.4f}\n" for i in range(len(samples) // 4)))
