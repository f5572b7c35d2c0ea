#!/usr/bin/env python3
"""Writes src/formats/onnx/file/op_schemas.inc: the ops of ONNX and of ONNX Runtime, with the types that each takes and gives.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install onnxruntime
    /tmp/venv/bin/python tools/op_schemas.py > src/formats/onnx/file/op_schemas.inc

The installed onnxruntime is asked for its schemas. src/formats/onnx/file/op_schemas.h says how a line is read.
"""

from onnxruntime.capi import onnxruntime_pybind11_state as runtime

DOMAINS = ("", "ai.onnx.ml", "com.microsoft")
LETTERS = {
    "tensor(float)": "f", "tensor(float16)": "h", "tensor(bfloat16)": "g", "tensor(double)": "d",
    "tensor(bool)": "b", "tensor(string)": "t",
    "tensor(int8)": "c", "tensor(int16)": "w", "tensor(int32)": "i", "tensor(int64)": "l",
    "tensor(uint8)": "o", "tensor(uint16)": "v", "tensor(uint32)": "u", "tensor(uint64)": "m",
}  # fmt: skip
ORDER = "fhgdcwilovumbt"


def letter_of(type_name):
    if type_name in LETTERS:
        return LETTERS[type_name]
    return "?" if type_name.startswith("tensor(") else "*"


def letters_of(type_names):
    found = {letter_of(name) for name in type_names}
    return "".join(letter for letter in ORDER + "?*" if letter in found)


def line_of(schema):
    allowed = {c.type_param_str: letters_of(c.allowed_type_strs) for c in schema.type_constraints}
    # A variable that stands for one type is that type.
    names = [name for name, letters in allowed.items() if len(letters) > 1 or letters in "?*"]

    def spell(parameters):
        text = ""
        for parameter in parameters:
            name = parameter.typeStr
            if name in names:
                text += chr(ord("A") + names.index(name))
            elif name in allowed:
                text += allowed[name]
            else:
                text += letter_of(name)
            if parameter.option == runtime.schemadef.OpSchema.FormalParameterOption.Variadic:
                text += "+" if parameter.isHomogeneous else "!"
        return text

    def needed(parameters, least):
        option = runtime.schemadef.OpSchema.FormalParameterOption.Optional
        return sum(1 << i for i, parameter in enumerate(parameters[:least]) if parameter.option != option)

    assert len(names) <= 26, schema.name
    variables = " ".join(f"{name}={allowed[name]}" for name in names)
    quoted = (schema.domain, schema.name, schema.since_version, spell(schema.inputs), spell(schema.outputs), variables,
              needed(schema.inputs, schema.min_input), schema.min_output)
    return '    {{"{}", "{}", {}, "{}", "{}", "{}", {}, {}}},'.format(*quoted)


schemas = [s for s in runtime.get_all_operator_schema() if s.domain in DOMAINS]
schemas.sort(key=lambda s: (s.domain, s.name, s.since_version))
print("// Made by tools/op_schemas.py; not to be edited.")
print("// clang-format off")
for schema in schemas:
    print(line_of(schema))
print("// clang-format on")
