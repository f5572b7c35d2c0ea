#!/usr/bin/env python3
"""Makes the files in tests/goldens/arrays with NumPy and Python's own wave module.

The tests check that the readers of src/data read files of those programs; they compute the expected values by the
formulas below. Needs NumPy. The files are kept in the repository.
"""

import pathlib
import wave

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "arrays"


def arrays():
    return {
        "x": np.arange(24, dtype=np.uint8).reshape(4, 2, 3),
        "y": np.array([-1, 0, 1, 2**40], dtype=np.int64),
        "half": (np.arange(8, dtype=np.float16) / 2).reshape(4, 2),
        "flag": np.array([True, False, False, True]),
        "name": np.array(["a", "", "größe", "画像🙂"]),
        "code": np.array([b"ab", b"c", b"", b"def"]),
        "scale": np.float32(0.25),
    }


def write_npy(name, array, version=None, **options):
    with open(FOLDER / name, "wb") as file:
        np.lib.format.write_array(file, array, version=version, **options)


def write_wav(name, channels, width, frames):
    with wave.open(str(FOLDER / name), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(16000)
        file.writeframes(frames)


def main():
    FOLDER.mkdir(exist_ok=True)
    np.savez(FOLDER / "stored.npz", **arrays())
    np.savez_compressed(FOLDER / "compressed.npz", **arrays())
    np.savez_compressed(FOLDER / "lengths.npz", x=np.zeros((3, 2), np.float32), calib=np.zeros((5, 2), np.float32))
    np.savez_compressed(FOLDER / "empty.npz", x=np.zeros((0, 3), np.float32), y=np.zeros(0, np.int64))
    values = np.array([[1.5, -2.0], [0.0, 3e8], [np.inf, 1e-30]])
    write_npy("big_endian.npy", values.astype(">f4"))
    write_npy("big_endian_text.npy", np.array(["größe", "🙂"]).astype(">U5"))
    write_npy("version2.npy", values.astype("<f8"), version=(2, 0))
    write_npy("version3.npy", values.astype("<f8"), version=(3, 0))
    write_npy("fortran.npy", np.asfortranarray(values))
    write_npy("complex.npy", values.astype(np.complex64))
    write_npy("objects.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    write_npy("columns.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
    write_wav("stereo16.wav", 2, 2, np.array([0, -32768, 1, 32767, -2, 256], "<i2").tobytes())
    write_wav("mono24.wav", 1, 3, b"\x00\x00\x80" + b"\xff\xff\x7f" + b"\x00\x00\x40")


if __name__ == "__main__":
    main()
