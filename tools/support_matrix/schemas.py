"""Every operator that a CPU model may hold, as the newest ONNX Runtime describes it.

    for schema in schemas(): schema.name, schema.since, schema.inputs …

An operator has one schema for each since_version that a model of opset 7 or later can mean.
"""
from dataclasses import dataclass
from functools import cache

from onnxruntime.capi import onnxruntime_pybind11_state as runtime

from element_types import ALL

OLDEST_OPSET = 7
DOMAINS = {"": "ai.onnx", "ai.onnx.ml": "ai.onnx.ml", "com.microsoft": "com.microsoft"}


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str      # a type variable, or a type such as "int64" where there is no choice
    optional: bool
    variadic: bool


@dataclass(frozen=True)
class Schema:
    domain: str
    name: str
    since: int
    inputs: tuple
    outputs: tuple
    least_inputs: int
    least_outputs: int
    types: dict          # type variable -> the element types it allows, of those that are probed
    attributes: dict     # name -> default, None without one
    has_kernel: bool

    def parameter(self, parameters, place):
        return parameters[min(place, len(parameters) - 1)]

    def choices(self, type_):
        """The types that a parameter of this type may have."""
        return self.types.get(type_, (type_,))


def plain(type_text):
    """tensor(float) -> float, seq(tensor(float)) -> seq(float), T -> T."""
    return type_text.replace("tensor(", "").replace("))", ")").removesuffix(")") + (
        ")" if type_text.startswith(("seq(", "optional(", "map(")) else "")


def parameter_of(formal):
    option = formal.option.name
    return Parameter(formal.name, plain(formal.typeStr), option == "Optional", option == "Variadic")


def default_of(attribute):
    import onnx
    proto = onnx.AttributeProto.FromString(attribute._default_value)
    return onnx.helper.get_attribute_value(proto) if proto.type else None


def schema_of(source, has_kernel):
    types = {}
    for constraint in source.type_constraints:
        allowed = {plain(text) for text in constraint.allowed_type_strs}
        kept = [name for name in ALL if name in allowed]
        kept += [f"seq({name})" for name in ALL if f"seq({name})" in allowed]
        types[constraint.type_param_str] = tuple(kept)
    return Schema(DOMAINS[source.domain], source.name, source.since_version,
                  tuple(map(parameter_of, source.inputs)), tuple(map(parameter_of, source.outputs)),
                  source.min_input, source.min_output, types,
                  {name: default_of(a) for name, a in source.attributes.items()}, has_kernel)


@cache
def schemas():
    kernels = {(kernel.domain, kernel.op_name) for kernel in runtime.get_all_opkernel_def()}
    found = {}
    for source in runtime.get_all_operator_schema():
        if source.domain not in DOMAINS or source.name.endswith("_TRT"):
            continue
        found.setdefault((source.domain, source.name), []).append(source)
    wanted = []
    for (domain, name), versions in sorted(found.items()):
        versions.sort(key=lambda source: source.since_version)
        if domain == "com.microsoft" and (domain, name) not in kernels:
            continue  # for other providers
        for place, source in enumerate(versions):
            ends = versions[place + 1].since_version if place + 1 < len(versions) else None
            superseded = domain == "" and ends is not None and ends <= OLDEST_OPSET
            if not superseded:   # a deprecated one may well run
                wanted.append(schema_of(source, (domain, name) in kernels))
    return wanted
