"""Control flow, sequences and optionals."""
from onnx import helper

import element_types
from probe import case, random_array, tensor_info

CARRIED = ("float", "float16", "bfloat16", "int64", "bool", "string", "int4", "float8e4m3fn")


def carried(schema):
    return [{"V": t} for t in schema.types["V"] if t in CARRIED]


def graph(name, nodes, inputs, outputs):
    info = [[tensor_info(n, t, s) for n, t, s in side] for side in (inputs, outputs)]
    return helper.make_graph(nodes, name, *info)


@case("If", bindings=carried)
def if_(p):
    type_ = p.type_of("V")
    p.value(bool(p.pick(0, 1)))
    array = random_array(p.rng, type_, (3,), None, None)
    p.inputs["outer"] = array
    branches = [graph(n, [helper.make_node("Identity", ["outer"], [n])], [], [(n, type_, None)])
                for n in ("then", "else")]
    p.attr(then_branch=branches[0], else_branch=branches[1])


@case("Loop", bindings=carried)
def loop(p):
    type_ = p.type_of("V")
    p.value(p.size(1, 3))
    p.value(True)
    p.input(2)
    body = graph("body", [helper.make_node("Identity", ["c"], ["co"]), helper.make_node("Identity", ["v"], ["vo"])],
                 [("n", "int64", []), ("c", "bool", []), ("v", type_, [2])],
                 [("co", "bool", []), ("vo", type_, [2])])
    p.attr(body=body)


@case("Scan", since=9, bindings=carried)
def scan(p):
    type_ = p.type_of("V")
    p.input(p.size(1, 3), 2)
    body = graph("body", [helper.make_node("Identity", ["v"], ["vo"])], [("v", type_, [2])],
                 [("vo", type_, [2])])
    p.attr(body=body, num_scan_inputs=1)


def sequence_types(schema):
    """T and the sequence of T together."""
    extra = "I" if len(schema.types.get("I", ())) > 1 else None
    found = []
    for t in (name[4:-1] for name in schema.types["S"] if name.startswith("seq(")):
        binding = {"S": f"seq({t})"} | ({"T": t} if "T" in schema.types else {})
        found.append(binding | ({extra: "int64"} if extra else {}))
    return found


def element(p):
    return p.type_of("S")[4:-1] if p.types else "float"


def sequence(p, count):
    p.made_by("SequenceConstruct", *[random_array(p.rng, element(p), (2, 3), None, None) for _ in range(count)])


@case("SequenceConstruct", bindings=sequence_types)
def sequence_construct(p):
    for _ in range(p.size(1, 3)):
        p.input(2, 3, type=element(p))
    p.output_types[0] = f"seq({element(p)})"


@case("SequenceEmpty", bindings=sequence_types)
def sequence_empty(p):
    p.attr(dtype=element_types.number(element(p)))
    p.output_types[0] = f"seq({element(p)})"


@case("SequenceAt", bindings=sequence_types)
def sequence_at(p):
    sequence(p, 3)
    p.value(p.size(0, 2), type="int64")
    p.output_types[0] = element(p)


@case("SequenceErase", bindings=sequence_types)
def sequence_erase(p):
    sequence(p, 3)
    p.value(p.size(0, 2), type="int64")
    p.output_types[0] = f"seq({element(p)})"


@case("SequenceInsert", bindings=sequence_types)
def sequence_insert(p):
    sequence(p, 2)
    p.input(2, 3, type=element(p))
    p.output_types[0] = f"seq({element(p)})"


@case("SequenceLength", bindings=sequence_types)
def sequence_length(p):
    sequence(p, p.size(1, 3))


@case("ConcatFromSequence", bindings=sequence_types)
def concat_from_sequence(p):
    sequence(p, 2)
    p.attr(axis=p.pick(0, 1), new_axis=p.pick(0, 1))
    p.output_types[0] = element(p)


@case("SplitToSequence", bindings=sequence_types)
def split_to_sequence(p):
    p.input(4, 3, type=element(p))
    p.attr(axis=0)
    if p.pick(True, False):
        p.value(2, constant=True, type="int64")
    p.output_types[0] = f"seq({element(p)})"


@case("OptionalHasElement", "OptionalGetElement", since=18,
      bindings=lambda s: [{"O": t, "V": t} if "V" in s.types else {"O": t}
                          for t in s.types["O"] if not t.startswith("seq(")])
def optional(p):
    p.input(2, 3, type=p.type_of("O"))
