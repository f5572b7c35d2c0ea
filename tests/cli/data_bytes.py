"""Makes data files as bytes, with only the standard library: .npy, .npz, .wav and .png."""

import io
import struct
import wave
import zipfile
import zlib
from array import array

DTYPES = {"f": "<f4", "q": "<i8", "h": "<i2", "B": "|u1"}


def npy(kind, dims, values):
    """An array; `kind` is a code of the module array: f float, q int64, h int16, B uint8."""
    shape = "(" + "".join(f"{dim}, " for dim in dims) + ")"
    header = f"{{'descr': '{DTYPES[kind]}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array(kind, values).tobytes()


def npz(**arrays):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (2020, 1, 1, 0, 0, 0)), content)
    return buffer.getvalue()


def wav(rate, samples):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(array("h", samples).tobytes())
    return buffer.getvalue()


def png(width, height, pixels):
    """RGB; `pixels` are rows of bytes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(pixels[3 * width * y:3 * width * (y + 1)]) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
