"""A probe: a model of one node with its inputs, and the key under which its result is recorded.

A case (cases/) describes an operator's node with a Builder:

    @case("Gather", by={"axis": [0, 1]})
    def gather(p):
        p.input(p.size(3, 5), 4)             # of the type that the schema and the binding give it
        p.input(2, low=0, high=3)
        p.attr(axis=p.by["axis"])

The same case serves every since_version, type binding and variant of its operator.
"""
import hashlib
import itertools
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, numpy_helper

import element_types

IR_VERSION = 8
HOST_OPSET = 17   # of ai.onnx in models whose node is of another domain


@dataclass(frozen=True)
class Key:
    domain: str
    op: str
    since: int
    types: tuple      # (variable, type), in the order of the schema
    by: tuple = ()    # (dimension, value), in the order of the case

    def __str__(self):
        parts = [",".join(f"{v}={t}" for v, t in self.types)] if self.types else []
        parts += [f"{name}={value}" for name, value in self.by]
        return " ".join(parts) or "."

    def full(self):
        return f"{self.domain} {self.op} {self.since} {self}"


@dataclass
class Probe:
    key: Key
    model: onnx.ModelProto
    inputs: dict
    checked: bool = True          # there may be a reference to compare with
    tolerance: float | None = None  # instead of the element type's
    off_by: int = 0               # allowed difference of integers: rounding of a tie

    def digest(self):
        sha = hashlib.sha256(self.model.SerializeToString(deterministic=True))
        for name, array in self.inputs.items():
            sha.update(f"{name} {array.shape} {array.dtype}".encode())
            sha.update(repr(array.tolist()).encode() if array.dtype.kind in "OU" else array.tobytes())
        return sha.hexdigest()[:24]


def seeded(key, seed):
    digest = hashlib.sha256(f"{seed} {key.full()}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def random_array(rng, type_, shape, low, high):
    dtype = element_types.numpy_type(type_) if type_ != "string" else np.dtype(object)
    count = int(np.prod(shape, dtype=np.int64))
    if type_ == "string":
        values = np.array([f"s{n}" for n in rng.integers(0, 6, count)], dtype=object)
    elif type_ == "bool":
        values = rng.integers(0, 2, count).astype(bool)
    elif type_ in element_types.FLOATS + element_types.FLOAT8:
        low, high = (-1.0 if low is None else low), (1.0 if high is None else high)
        # Steps of 1/16 are exact in every type but the smallest.
        values = (np.floor(rng.uniform(low, high, count) * 16) / 16).clip(low, high).astype(dtype)
    else:
        signed = not type_.startswith("u")
        low, high = (-5 if signed else 0) if low is None else int(np.ceil(low)), 6 if high is None else int(high)
        if not signed:
            low = max(low, 0)
        values = rng.integers(low, max(high, low) + 1, count).astype(dtype)
    return values.reshape(shape)


class Builder:
    """The node of one probe in the making."""

    def __init__(self, schema, types, by, seed):
        self.schema, self.types, self.by = schema, dict(types), dict(by)
        self.since = schema.since
        self.key = Key(schema.domain, schema.name, schema.since, tuple(types), tuple(by))
        self.rng = seeded(self.key, seed)
        self.nodes, self.inputs, self.initializers = [], {}, []
        self.node_inputs, self.attributes = [], {}
        self.outputs, self.output_types, self.output_protos = None, {}, {}
        self.used = set()            # the type variables of the parameters that are there
        self.checked, self.tolerance, self.off_by = True, None, 0
        self.opsets = {}
        self.valid = True

    # The fields of a case.

    def size(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def pick(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def type_at(self, place):
        return self.type_of(self.schema.parameter(self.schema.inputs, place).type)

    def type_of(self, variable):
        return self.types.get(variable) or self.schema.choices(variable)[0]

    def input(self, *shape, low=None, high=None, type=None):
        """The next input, random, from outside."""
        type = type or self.type_at(len(self.node_inputs))
        return self.value(random_array(self.rng, type, shape, low, high))

    def constant(self, *shape, low=None, high=None, type=None):
        """The next input, random, an initializer."""
        type = type or self.type_at(len(self.node_inputs))
        return self.value(random_array(self.rng, type, shape, low, high), constant=True)

    def value(self, values, constant=False, type=None):
        """The next input, these values."""
        type = type or self.type_at(len(self.node_inputs))
        array = np.asarray(values)
        array = array.astype(object if type == "string" else element_types.numpy_type(type))
        name = f"i{len(self.node_inputs)}"
        self.count(self.schema.inputs, len(self.node_inputs))
        self.node_inputs.append(name)
        if constant:
            self.initializers.append(numpy_helper.from_array(array, name))
        else:
            self.inputs[name] = array
        return array

    def made_by(self, op, *arrays, **attributes):
        """The next input, the output of another node of ai.onnx."""
        place = len(self.node_inputs)
        names = []
        for n, array in enumerate(arrays):
            names.append(f"m{place}_{n}")
            self.inputs[names[-1]] = array
        self.nodes.append(helper.make_node(op, names, [f"i{place}"], **attributes))
        self.count(self.schema.inputs, place)
        self.node_inputs.append(f"i{place}")

    def skip(self):
        self.node_inputs.append("")

    def attr(self, **attributes):
        self.attributes.update({n: v for n, v in attributes.items() if v is not None})

    def attr_if_known(self, **attributes):
        self.attr(**{n: v for n, v in attributes.items() if n in self.schema.attributes})

    def output_count(self, count):
        self.outputs = count

    def unchecked(self):
        self.checked = False

    def reject(self):
        """This binding or variant does not exist."""
        self.valid = False

    # The results.

    def count(self, parameters, place):
        self.used.add(self.schema.parameter(parameters, place).type)

    def probe(self):
        count = self.outputs if self.outputs is not None else max(1, self.schema.least_outputs)
        names = [f"o{n}" for n in range(count)]
        for place in range(count):
            self.count(self.schema.outputs, place)
        while self.node_inputs and self.node_inputs[-1] == "":
            self.node_inputs.pop()
        domain = "" if self.schema.domain == "ai.onnx" else self.schema.domain
        node = helper.make_node(self.schema.name, self.node_inputs, names, domain=domain, **self.attributes)
        outputs = [self.output_info(place) for place in range(count)]
        graph = helper.make_graph(self.nodes + [node], "probe",
                                  [tensor_info(n, element_types.of_array(a), a.shape)
                                   for n, a in self.inputs.items()],
                                  outputs, self.initializers)
        opsets = {"": max(self.since, 7) if domain == "" else HOST_OPSET}
        if domain:
            opsets[domain] = self.since
        opsets.update(self.opsets)
        model = helper.make_model(graph, ir_version=IR_VERSION, producer_name="probe",
                                  opset_imports=[helper.make_opsetid(d, v) for d, v in opsets.items()])
        return Probe(self.key, model, self.inputs, self.checked, self.tolerance, self.off_by)

    def output_info(self, place):
        if place in self.output_protos:
            return helper.make_value_info(f"o{place}", self.output_protos[place])
        parameter = self.schema.parameter(self.schema.outputs, place)
        type_ = self.output_types.get(place) or self.type_of(parameter.type)
        if type_.startswith("seq("):
            element = helper.make_tensor_type_proto(element_types.number(type_[4:-1]), None)
            return helper.make_value_info(f"o{place}", helper.make_sequence_type_proto(element))
        return tensor_info(f"o{place}", type_, None)


def tensor_info(name, type_, shape):
    return helper.make_tensor_value_info(name, element_types.number(type_), shape)


@dataclass
class Case:
    build: object
    by: dict = field(default_factory=dict)
    bindings: object = None      # schema -> list of {variable: type}, instead of all of them
    lowest: int = 0
    highest: int = 10**9


CASES = {}   # (domain, operator) -> its cases, apart in their since_versions


def case(*names, domain="ai.onnx", since=0, until=10**9, by=None, bindings=None):
    def register(build):
        for name in names:
            CASES.setdefault((domain, name), []).append(Case(build, by or {}, bindings, since, until))
        return build
    return register


def variants(case_, schema):
    """Every combination of the values that the case's dimensions have for this schema."""
    axes = [(name, values(schema) if callable(values) else values) for name, values in case_.by.items()]
    axes = [(name, values) for name, values in axes if values]
    for combination in itertools.product(*(values for _, values in axes)):
        yield tuple(zip((name for name, _ in axes), combination))


MOST_BINDINGS = 40


def default_bindings(schema, used):
    """All of them; where that is too many, one type for all variables, or one variable unlike the first type."""
    variables = [v for v in schema.types if v in used and len(schema.types[v]) > 1]
    total = int(np.prod([len(schema.types[v]) for v in variables]))
    if total <= MOST_BINDINGS:
        return [dict(zip(variables, c)) for c in itertools.product(*(schema.types[v] for v in variables))]
    base = {v: schema.types[v][0] for v in variables}
    found = [base]
    for variable in variables:
        found += [base | {variable: type_} for type_ in schema.types[variable][1:]]
    alike = set.intersection(*(set(schema.types[v]) for v in variables))
    found += [dict.fromkeys(variables, type_) for type_ in schema.types[variables[0]] if type_ in alike]
    return [binding for place, binding in enumerate(found) if binding not in found[:place]]


def probes_of(case_, schema, seed):
    for by in variants(case_, schema):
        trial = Builder(schema, (), by, seed)
        case_.build(trial)
        if not trial.valid:
            continue
        trial.probe()
        bindings = (case_.bindings or (lambda s: default_bindings(s, trial.used)))(schema)
        for binding in bindings:
            types = tuple((v, binding[v]) for v in schema.types if v in binding)
            builder = Builder(schema, types, by, seed)
            case_.build(builder)
            if builder.valid:
                yield builder.probe()
