"""Encodes ONNX messages by hand, so that the tests need no third-party module."""

import random
import struct
from array import array

FLOAT, UINT8, INT8, INT64, BOOL, FLOAT16 = 1, 2, 3, 7, 9, 10


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """One field: an integer, or a value with bytes (text, a nested message)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def floats_of(values):
    return array("f", values).tobytes()


def random_floats(seed, count, scale=0.1):
    """Reproducible on every machine: Python guarantees the sequence of random()."""
    draw = random.Random(seed).random
    return [scale * (draw() + draw() + draw() - 1.5) for _ in range(count)]


def size_of(dims):
    count = 1
    for dim in dims:
        count *= dim
    return count


def tensor(name, dims, raw, data_type=FLOAT):
    return fields(1, dims) + field(2, data_type) + field(8, name) + field(9, raw)


def external_tensor(name, dims, location, offset, length):
    entries = {"location": location, "offset": str(offset), "length": str(length)}
    messages = [field(1, key) + field(2, value) for key, value in entries.items()]
    return fields(1, dims) + field(2, FLOAT) + field(8, name) + fields(13, messages) + field(14, 1)


def weight(name, *dims, scale=0.1):
    """A tensor of random floats; its name is the seed."""
    return tensor(name, dims, floats_of(random_floats(name, size_of(dims), scale)))


def ints(name, *values):
    return tensor(name, [len(values)], struct.pack(f"<{len(values)}q", *values), INT64)


def attribute(name, value):
    """An attribute whose type follows from the value: an int, a text, a list of ints, floats or texts; see also tensor_ and graph_."""
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    if isinstance(value[0], float):
        return field(1, name) + b"".join(varint(7 << 3 | 5) + struct.pack("<f", v) for v in value) + field(20, 6)
    if isinstance(value[0], str):
        return field(1, name) + fields(9, value) + field(20, 8)
    return field(1, name) + fields(8, value) + field(20, 7)


def tensor_attribute(name, value):
    return field(1, name) + field(5, value) + field(20, 4)


def graph_attribute(name, value):
    return field(1, name) + field(6, value) + field(20, 5)


def node(op_type, inputs, outputs, attributes=(), name=None, domain=""):
    name = name or f"{op_type.lower()}_{outputs[0]}"
    message = fields(1, inputs) + fields(2, outputs) + field(3, name) + field(4, op_type) + fields(5, attributes)
    return message + (field(7, domain) if domain else b"")


def constant(output, value):
    return node("Constant", [], [output], [tensor_attribute("value", value)])


def value(name, dims, data_type=FLOAT):
    """A graph input or output; a dimension may be a name."""
    shape = fields(1, [field(2, dim) if isinstance(dim, str) else field(1, dim) for dim in dims])
    return field(1, name) + field(2, field(1, field(1, data_type) + field(2, shape)))


def graph(nodes, inputs=(), outputs=(), initializers=(), name="graph"):
    return fields(1, nodes) + field(2, name) + fields(5, initializers) + fields(11, inputs) + fields(12, outputs)


def opset(version, domain=""):
    return (field(1, domain) if domain else b"") + field(2, version)


def function(name, inputs, outputs, nodes, domain, version):
    return (field(1, name) + fields(4, inputs) + fields(5, outputs) + fields(7, nodes) + field(9, opset(version)) +
            field(10, domain))


def model(body, version=17, ir_version=8, other_opsets=(), functions=()):
    message = field(1, ir_version) + field(2, "ounce tests") + field(7, body) + field(8, opset(version))
    return message + fields(8, other_opsets) + fields(25, functions)
