"""The example of the project, for tests."""

import pathlib

import numpy

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "commands"
MODEL = str(FOLDER / "commands.onnx")


def clips(count):
    """Sound as the model takes it, and what is said in it."""
    with numpy.load(FOLDER / "commands_val.npz") as archive:
        sound = archive["audio"][:count].astype(numpy.float32)[:, None, :] / 32768
        return sound, archive["label"][:count]
