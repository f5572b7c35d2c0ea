"""ONNX messages as a tree that can be changed and written again. Needs only the standard library.

The messages in KINDS are parsed; all other fields are kept as bytes.
"""

import copy
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from onnx_bytes import varint  # noqa: E402

# The submessages of each message, by field number.
KINDS = {
    "Model": {7: "Graph", 8: "Opset", 14: "Entry", 25: "Function"},
    "Graph": {1: "Node", 5: "Tensor", 11: "Value", 12: "Value", 13: "Value", 15: "Sparse"},
    "Node": {5: "Attribute"},
    "Attribute": {5: "Tensor", 6: "Graph", 10: "Tensor", 11: "Graph"},
    "Tensor": {13: "Entry"},
    "Sparse": {1: "Tensor", 2: "Tensor"},
    "Value": {2: "Type"},
    "Type": {1: "TensorType"},
    "TensorType": {2: "Shape"},
    "Shape": {1: "Dim"},
    "Function": {7: "Node", 9: "Opset", 11: "Attribute"},
    "Opset": {}, "Entry": {}, "Dim": {},
}


class Fixed(bytes):
    """A number of 4 or 8 bytes."""


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Message:
    def __init__(self, kind, fields=()):
        self.kind = kind
        self.fields = [list(field) for field in fields]

    @classmethod
    def parse(cls, kind, data):
        message, at = cls(kind), 0
        while at < len(data):
            tag, at = read_varint(data, at)
            number, wire = tag >> 3, tag & 7
            if wire == 0:
                value, at = read_varint(data, at)
                value = signed(value)
            elif wire == 2:
                size, at = read_varint(data, at)
                value, at = bytes(data[at:at + size]), at + size
                if number in KINDS[kind]:
                    value = cls.parse(KINDS[kind][number], value)
            else:
                size = {1: 8, 5: 4}[wire]
                value, at = Fixed(data[at:at + size]), at + size
            message.fields.append([number, value])
        return message

    def bytes(self):
        out = bytearray()
        for number, value in self.fields:
            if isinstance(value, int):
                out += varint(number << 3) + varint(value)
            elif isinstance(value, Fixed):
                out += varint(number << 3 | {8: 1, 4: 5}[len(value)]) + value
            else:
                content = value.bytes() if isinstance(value, Message) else value
                out += varint(number << 3 | 2) + varint(len(content)) + content
        return bytes(out)

    def copy(self):
        return copy.deepcopy(self)

    def all(self, number):
        return [value for n, value in self.fields if n == number]

    def get(self, number, default=None):
        return next(iter(self.all(number)), default)

    def text(self, number):
        return self.get(number, b"").decode(errors="replace")

    def texts(self, number):
        return [value.decode(errors="replace") for value in self.all(number)]

    def set(self, number, *values):
        """Replaces all values of a field, at the place of the first."""
        at = next((i for i, (n, _) in enumerate(self.fields) if n == number), len(self.fields))
        new = [[number, value.encode() if isinstance(value, str) else value] for value in values]
        self.fields = [f for f in self.fields[:at] if f[0] != number] + new + [f for f in self.fields[at:] if f[0] != number]
        return self

    def add(self, number, value):
        return self.set(number, *self.all(number), value)

    def remove(self, number, value):
        self.fields = [f for f in self.fields if f[0] != number or f[1] is not value]

    def numbers(self, number):
        """The values of a repeated integer, packed or not."""
        found = []
        for value in self.all(number):
            if isinstance(value, int):
                found.append(value)
            else:
                at = 0
                while at < len(value):
                    one, at = read_varint(value, at)
                    found.append(signed(one))
        return found


def walk(message):
    """The message and all messages in it."""
    yield message
    for _, value in message.fields:
        if isinstance(value, Message):
            yield from walk(value)


def of_kind(message, kind):
    return [one for one in walk(message) if one.kind == kind]
