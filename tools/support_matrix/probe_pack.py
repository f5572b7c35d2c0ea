"""Many probes in one file, for probe_runner: u32 count, u64 offset of each, the probes."""
import struct

import element_types
from onnx import numpy_helper


def block(data):
    return struct.pack("<Q", len(data)) + data


def tensor_bytes(array):
    if element_types.of_array(array) == "string":
        return b"".join(text.encode() + b"\0" for text in array.reshape(-1).tolist())
    return numpy_helper.from_array(array).raw_data


def probe_bytes(probe):
    parts = [block(probe.model.SerializeToString(deterministic=True)), struct.pack("<I", len(probe.inputs))]
    for name, array in probe.inputs.items():
        parts.append(block(name.encode()))
        parts.append(struct.pack("<II", element_types.number(element_types.of_array(array)), array.ndim))
        parts.append(struct.pack(f"<{array.ndim}q", *array.shape))
        parts.append(block(tensor_bytes(array)))
    return b"".join(parts)


def write_pack(path, probes):
    blobs = [probe_bytes(probe) for probe in probes]
    offset = 4 + 8 * len(blobs)
    with open(path, "wb") as file:
        file.write(struct.pack("<I", len(blobs)))
        for blob in blobs:
            file.write(struct.pack("<Q", offset))
            offset += len(blob)
        file.writelines(blobs)
