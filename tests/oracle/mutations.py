"""Mutations that keep a model a valid protobuf but change or break its content.

Each takes a random generator and a model (onnx_tree.Message), changes the model, and returns a description, or None if it does
not apply. The same seed gives the same mutant on every machine.
"""

import random
import struct

from onnx_tree import Message, of_kind

FLOAT_TYPES = (1, 10, 11, 16)
SIZES = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 16: 2}
OPS = ["Add", "Mul", "Sub", "Div", "MatMul", "Gemm", "Conv", "ConvTranspose", "Relu", "Sigmoid", "Tanh", "Identity", "Flatten",
       "Transpose", "Softmax", "Clip", "LeakyRelu", "AveragePool", "MaxPool", "GlobalAveragePool", "Concat", "Sum", "Pow", "Sqrt",
       "Exp", "Neg", "Abs", "Gather", "Reshape", "ReduceMean", "BatchNormalization", "InstanceNormalization", "PRelu", "Where",
       "LSTM", "Cast", "Dropout", "Shape", "Not", "Constant", "NoSuchOp"]
TENSOR, GRAPH, INT, INTS, FLOAT, STRING = 4, 5, 2, 7, 1, 3


def bodies(model):
    """Every list of nodes: graphs at every depth, and functions."""
    return of_kind(model, "Graph") + of_kind(model, "Function")


def tensors(model):
    return [t for g in of_kind(model, "Graph") for t in g.all(5)]


def nodes(model):
    return of_kind(model, "Node")


def names(model):
    found = {""}
    for n in nodes(model):
        found |= set(n.texts(1)) | set(n.texts(2))
    for g in of_kind(model, "Graph"):
        found |= {v.text(1) for number in (11, 12, 13) for v in g.all(number)} | {t.text(8) for t in g.all(5)}
    return sorted(found)


def fresh(rng, model):
    taken = set(names(model))
    while True:
        name = f"m{rng.randrange(10000)}"
        if name not in taken:
            return name


def pick(rng, values):
    values = list(values)
    return rng.choice(values) if values else None


def replaced(values, at, new):
    return [new if i == at else v for i, v in enumerate(values)]


def make_node(op, inputs, outputs, attributes=(), domain=None):
    n = Message("Node")
    n.set(1, *inputs).set(2, *outputs).set(3, f"made_{outputs[0]}").set(4, op).set(5, *attributes)
    return n.set(7, domain) if domain else n


def make_attribute(name, kind, number, value):
    return Message("Attribute").set(1, name).set(number, value).set(20, kind)


def make_value(name, data_type=None, dims=None):
    v = Message("Value").set(1, name)
    if data_type is None:
        return v
    kind = Message("TensorType").set(1, data_type)
    if dims is not None:
        kind.set(2, Message("Shape").set(1, *[Message("Dim").set(1, d) if isinstance(d, int) else Message("Dim").set(2, d) for d in dims]))
    return v.set(2, Message("Type").set(1, kind))


def make_tensor(name, dims, data_type, raw):
    return Message("Tensor").set(1, *dims).set(2, data_type).set(8, name).set(9, raw)


# --- Names, which connect nodes.

def node_with(rng, model, number):
    return pick(rng, [n for n in nodes(model) if n.all(number)])


def reconnect(rng, model):
    n = node_with(rng, model, 1)
    if not n:
        return None
    at, new = rng.randrange(len(n.all(1))), pick(rng, names(model) + ["nowhere"])
    n.set(1, *replaced(n.texts(1), at, new))
    return f"input {at} of {n.text(3)} is {new!r}"


def take_output_of_another(rng, model):
    n = node_with(rng, model, 2)
    if not n:
        return None
    new = pick(rng, names(model))
    n.set(2, *replaced(n.texts(2), rng.randrange(len(n.all(2))), new))
    return f"an output of {n.text(3)} is {new!r}"


def change_inputs(rng, model):
    n = node_with(rng, model, 1)
    if not n:
        return None
    inputs = n.texts(1)
    what = rng.choice(["drop", "repeat", "swap", "blank", "none", "add"])
    at = rng.randrange(len(inputs))
    if what == "drop":
        del inputs[at]
    elif what == "repeat":
        inputs.insert(at, inputs[at])
    elif what == "swap":
        rng.shuffle(inputs)
    elif what == "blank":
        inputs[at] = ""
    elif what == "none":
        inputs = []
    else:
        inputs.append(pick(rng, names(model)))
    n.set(1, *inputs)
    return f"{what} inputs of {n.text(3)}"


def change_outputs(rng, model):
    n = node_with(rng, model, 2)
    if not n:
        return None
    outputs = n.texts(2)
    what = rng.choice(["drop", "blank", "add", "swap"])
    if what == "drop":
        outputs.pop()
    elif what == "blank":
        outputs[rng.randrange(len(outputs))] = ""
    elif what == "add":
        outputs.append(fresh(rng, model))
    else:
        rng.shuffle(outputs)
    n.set(2, *outputs)
    return f"{what} outputs of {n.text(3)}"


def rename_everywhere(rng, model):
    """Renames a value at all places: the model is equivalent, unless two values get the same name."""
    old = pick(rng, [n for n in names(model) if n])
    new = rng.choice(["a/b:0", "größe", "x" * 300, " ", "ounce", "0", pick(rng, names(model)) or "z"])
    if old is None:
        return None
    def changed(values):
        return [new if v == old else v for v in values]
    for n in nodes(model):
        n.set(1, *changed(n.texts(1))).set(2, *changed(n.texts(2)))
    for g in of_kind(model, "Graph"):
        for number in (11, 12, 13):
            for v in g.all(number):
                v.set(1, *changed(v.texts(1)))
        for t in g.all(5):
            t.set(8, *changed(t.texts(8)))
    for f in of_kind(model, "Function"):
        f.set(4, *changed(f.texts(4))).set(5, *changed(f.texts(5)))
    return f"{old!r} is {new!r} everywhere"


def rename_nodes(rng, model):
    new = rng.choice(["", "same", "w"])
    for n in nodes(model):
        n.set(3, new)
    return f"all nodes are {new!r}"


# --- Nodes.

def body_of(rng, model):
    return pick(rng, [b for b in bodies(model) if b.all(nodes_field(b))])


def nodes_field(body):
    return 1 if body.kind == "Graph" else 7


def reorder(rng, model):
    body = body_of(rng, model)
    if not body:
        return None
    number = nodes_field(body)
    order = body.all(number)
    rng.shuffle(order)
    body.set(number, *order)
    return "nodes in another order"


def drop_node(rng, model):
    body = body_of(rng, model)
    if not body:
        return None
    number = nodes_field(body)
    n = pick(rng, body.all(number))
    body.remove(number, n)
    return f"without {n.text(3)}"


def bypass_node(rng, model):
    body = body_of(rng, model)
    n = pick(rng, [n for n in body.all(nodes_field(body)) if n.all(1) and n.all(2)]) if body else None
    if not n:
        return None
    n.set(4, "Identity").set(7).set(1, n.texts(1)[0]).set(2, n.texts(2)[0]).set(5)
    return f"{n.text(3)} is an Identity"


def repeat_node(rng, model):
    body = body_of(rng, model)
    if not body:
        return None
    n = pick(rng, body.all(nodes_field(body)))
    twin = n.copy()
    if rng.random() < 0.7:
        twin.set(2, *[fresh(rng, model) for _ in n.all(2)])
    body.add(nodes_field(body), twin)
    return f"{n.text(3)} twice"


def change_op(rng, model):
    n = pick(rng, nodes(model))
    if not n:
        return None
    old, new = n.text(4), rng.choice(OPS)
    n.set(4, new)
    return f"{old} becomes {new}"


def change_domain(rng, model):
    n = pick(rng, nodes(model))
    if not n:
        return None
    new = rng.choice(["", "ai.onnx", "com.microsoft", "ai.onnx.ml", "other", "here"])
    n.set(7, new)
    if rng.random() < 0.5:
        model.add(8, Message("Opset").set(1, new).set(2, 1))
    return f"{n.text(3)} is of {new!r}"


def insert_after(rng, model):
    """Inserts a node after a value; the consumers of the value read the new one."""
    body = body_of(rng, model)
    n = pick(rng, [n for n in body.all(nodes_field(body)) if n.all(2)]) if body else None
    if not n:
        return None
    number, old, new = nodes_field(body), rng.choice(n.texts(2)), fresh(rng, model)
    for user in body.all(number):
        user.set(1, *[new if v == old else v for v in user.texts(1)])
    kind = rng.choice(["Identity", "Relu", "Transpose", "Cast", "Neg", "Dropout", "Shape", "Mul", "Sqrt"])
    attributes = [make_attribute("to", INT, 3, rng.choice([1, 10, 11, 6, 7, 9, 16]))] if kind == "Cast" else []
    order = body.all(number)
    order.insert(next(i for i, one in enumerate(order) if one is n) + 1, make_node(kind, [old] * (2 if kind == "Mul" else 1), [new], attributes))
    body.set(number, *order)
    return f"{kind} behind {old!r}"


# --- Attributes.

def attribute_of(rng, model):
    n = pick(rng, [n for n in nodes(model) if n.all(5)])
    return (n, pick(rng, n.all(5))) if n else (None, None)


def change_attribute(rng, model):
    n, a = attribute_of(rng, model)
    if not n:
        return None
    what = rng.choice(["value", "value", "value", "value", "drop", "twice", "rename", "kind", "type", "reference"])
    odd = [0, 1, -1, 2, 3, -2, 7, 1 << 31, -(1 << 63), (1 << 63) - 1]
    if what == "value":
        if a.all(3):
            a.set(3, rng.choice(odd))
        elif a.all(8):
            values = a.numbers(8)
            how = rng.randrange(4)
            if how == 0:
                values[rng.randrange(len(values))] = rng.choice(odd)
            elif how == 1:
                values.append(rng.choice(odd))
            elif how == 2:
                values.pop()
            else:
                rng.shuffle(values)
            a.set(8, *values)
        elif a.all(4):
            a.set(4, rng.choice([b"", b"SAME_UPPER", b"VALID", b"ij,jk->ik", b"\xff\0", b"x" * 1000]))
        elif a.all(5):
            return change_tensor(rng, a.get(5))
        else:
            return None
    elif what == "drop":
        n.remove(5, a)
    elif what == "twice":
        n.add(5, a.copy())
    elif what == "rename":
        a.set(1, rng.choice(["axis", "to", "perm", "value", "nothing", ""]))
    elif what == "kind":
        a.set(20, rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 99]))
    elif what == "type":
        for number in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11):
            a.set(number)
        number, kind, value = rng.choice([(3, INT, 1), (4, STRING, b"text"), (8, INTS, 2), (5, TENSOR, make_tensor("", [2], 1, bytes(8)))])
        a.set(number, value).set(20, kind)
    else:
        a.set(21, "of_the_function")
    return f"{what} of attribute {a.text(1)!r} of {n.text(3)}"


def add_attribute(rng, model):
    n = pick(rng, nodes(model))
    if not n:
        return None
    name = rng.choice(["axis", "to", "alpha", "transA", "transB", "group", "strides", "pads", "dilations", "perm", "keepdims",
                       "auto_pad", "nothing", "layout", "direction", "linear_before_reset", "block_size", "output_dtype", "saturate"])
    if name in ("strides", "pads", "dilations", "perm"):
        a = Message("Attribute").set(1, name).set(8, *[rng.choice([0, 1, 2, 3]) for _ in range(rng.choice([1, 2, 3, 4]))]).set(20, INTS)
    elif name == "alpha":
        a = Message("Attribute").set(1, name).set(20, FLOAT)
        a.fields.append([2, fixed(rng.choice([0.5, 0.0, -1.0, float("nan"), 1e30]))])
    elif name in ("auto_pad", "direction"):
        a = make_attribute(name, STRING, 4, rng.choice([b"SAME_UPPER", b"VALID", b"bidirectional", b"reverse"]))
    else:
        a = make_attribute(name, INT, 3, rng.choice([0, 1, -1, 2]))
    n.add(5, a)
    return f"attribute {name!r} for {n.text(3)}"


def fixed(number):
    from onnx_tree import Fixed
    return Fixed(struct.pack("<f", number))


# --- Tensors.

def size_of(dims):
    count = 1
    for dim in dims:
        count *= dim
    return count


def floats(t):
    """The values of a tensor, if they are floats in raw data."""
    raw = t.get(9)
    return list(struct.unpack(f"<{len(raw) // 4}f", raw)) if t.get(2) == 1 and raw and len(raw) % 4 == 0 else None


def change_tensor(rng, t):
    dims, raw = t.numbers(1), t.get(9)
    what = rng.choice(["values", "values", "type", "reshape", "transpose", "rank", "scalar", "empty", "field", "cut", "longer", "negative",
                       "noname", "dims"])
    if what == "values":
        values = floats(t)
        if not values:
            return None
        how = rng.choice(["nan", "inf", "huge", "denormal", "zero", "same", "one large", "negative", "channel"])
        odd = {"nan": float("nan"), "inf": float("inf"), "huge": 3e38, "denormal": 1e-41, "one large": 1e6}
        if how in odd:
            values[rng.randrange(len(values))] = odd[how]
        elif how == "zero":
            values = [0.0] * len(values)
        elif how == "same":
            values = [0.37] * len(values)
        elif how == "negative":
            values = [-abs(v) for v in values]
        else:
            part = max(1, len(values) // (dims[0] if dims and dims[0] else 1))
            values[:part] = [0.0] * part
        t.set(9, struct.pack(f"<{len(values)}f", *values))
        what = f"values ({how})"
    elif what == "type":
        kind = rng.choice([1, 2, 3, 6, 7, 9, 10, 11, 16, 17, 8, 0, 99])
        t.set(2, kind)
        if kind in SIZES and raw is not None and rng.random() < 0.8:
            t.set(9, (raw * 3)[:size_of(dims) * SIZES[kind]] if size_of(dims) >= 0 else raw)
        what = f"type {kind}"
    elif what in ("reshape", "transpose"):
        if len(dims) < 2:
            return None
        if what == "reshape":
            dims = [size_of(dims)] if rng.random() < 0.5 else [dims[0] * dims[1], *dims[2:]]
        else:
            rng.shuffle(dims)
        t.set(1, *dims)
    elif what == "rank":
        dims.insert(rng.randrange(len(dims) + 1), 1)
        t.set(1, *dims)
    elif what == "scalar":
        size = SIZES.get(t.get(2))
        if not raw or not size:
            return None
        t.set(1).set(9, raw[:size])
    elif what == "empty":
        t.set(1, 0, *dims[1:]).set(9, b"")
    elif what == "field":
        values = floats(t)
        if not values:
            return None
        t.set(9).set(4, struct.pack(f"<{len(values)}f", *values))
    elif what in ("cut", "longer"):
        if raw is None:
            return None
        t.set(9, raw[:-1] if what == "cut" else raw + b"\0")
    elif what == "negative":
        t.set(1, *[-d for d in dims])
    elif what == "noname":
        t.set(8, "")
    else:
        if not dims:
            return None
        dims[rng.randrange(len(dims))] = rng.choice([0, 1, 2, 1 << 40, (1 << 63) - 1])
        t.set(1, *dims)
    return f"{what} of tensor {t.text(8)!r}"


def change_initializer(rng, model):
    t = pick(rng, tensors(model))
    return change_tensor(rng, t) if t else None


def graph_with_tensors(rng, model):
    return pick(rng, [g for g in of_kind(model, "Graph") if g.all(5)])


def move_initializer(rng, model):
    g = graph_with_tensors(rng, model)
    if not g:
        return None
    t = pick(rng, g.all(5))
    name = t.text(8)
    what = rng.choice(["drop", "twice", "constant", "input", "input only", "sparse", "outer", "cast", "dq", "output"])
    if what in ("drop", "constant", "sparse", "outer", "cast", "input only"):
        g.remove(5, t)
    if what == "twice":
        g.add(5, t.copy())
    elif what == "constant":
        g.set(1, make_node("Constant", [], [name], [make_attribute("value", TENSOR, 5, t)]), *g.all(1))
    elif what in ("input", "input only"):
        g.add(11, make_value(name, t.get(2, 1), t.numbers(1)))
    elif what == "sparse":
        count = size_of(t.numbers(1))
        if not 0 < count < 10000 or t.get(2) != 1:
            return None
        values = t.copy().set(1, count)
        index = make_tensor("", [count], 7, struct.pack(f"<{count}q", *range(count)))
        g.add(15, Message("Sparse").set(1, values).set(2, index).set(3, *t.numbers(1)))
    elif what == "outer":
        model.get(7).add(5, t)
    elif what == "cast":
        kind = rng.choice([10, 11, 16])
        half = fresh(rng, model)
        g.set(1, make_node("Cast", [half], [name], [make_attribute("to", INT, 3, t.get(2, 1))]), *g.all(1))
        g.add(5, make_tensor(half, t.numbers(1), kind, bytes(max(0, min(100000, size_of(t.numbers(1)))) * SIZES[kind])))
    elif what == "dq":
        g.remove(5, t)
        codes, scale = fresh(rng, model), fresh(rng, model) + "s"
        count = max(0, min(100000, size_of(t.numbers(1))))
        g.add(5, make_tensor(codes, t.numbers(1), 3, bytes(i * 37 % 256 for i in range(count))))
        g.add(5, make_tensor(scale, [], 1, struct.pack("<f", 0.01)))
        g.set(1, make_node("DequantizeLinear", [codes, scale], [name]), *g.all(1))
    elif what == "output":
        g.add(12, make_value(name, t.get(2, 1), t.numbers(1)))
    return f"initializer {name!r}: {what}"


def share_initializer(rng, model):
    g = graph_with_tensors(rng, model)
    n = node_with(rng, model, 1)
    if not g or not n:
        return None
    t = pick(rng, g.all(5))
    at = rng.randrange(len(n.all(1)))
    n.set(1, *replaced(n.texts(1), at, t.text(8)))
    return f"{t.text(8)!r} is input {at} of {n.text(3)}"


# --- Graphs, their inputs and outputs.

def change_value(rng, model):
    g = pick(rng, of_kind(model, "Graph"))
    number = rng.choice([11, 11, 12, 13])
    v = pick(rng, g.all(number))
    if not v:
        return None
    what = rng.choice(["drop", "twice", "untyped", "shapeless", "type", "dims", "free", "rename", "rank"])
    kind = v.get(2).get(1) if v.get(2) else None
    if what == "drop":
        g.remove(number, v)
    elif what == "twice":
        g.add(number, v.copy())
    elif what == "untyped":
        v.set(2)
    elif what == "rename":
        v.set(1, pick(rng, names(model)))
    elif kind is None:
        return None
    elif what == "shapeless":
        kind.set(2)
    elif what == "type":
        kind.set(1, rng.choice([1, 10, 11, 7, 6, 9, 16, 2, 8]))
    else:
        shape = kind.get(2)
        d = pick(rng, shape.all(1)) if shape else None
        if not d:
            return None
        if what == "dims":
            d.set(2).set(1, rng.choice([0, 1, 2, 3, -1, 1 << 40]))
        elif what == "free":
            d.set(1).set(2, rng.choice(["n", "batch", ""]))
        else:
            shape.add(1, Message("Dim").set(1, 1))
    return f"{what} of value {v.text(1)!r}"


def add_output(rng, model):
    name = pick(rng, names(model))
    model.get(7).add(12, make_value(name, *rng.choice([(), (1,), (1, ["a", "b"])])))
    return f"one more output {name!r}"


def annotate(rng, model):
    name = pick(rng, names(model))
    model.get(7).add(13, make_value(name, rng.choice([1, 7, 10]), rng.choice([[1], ["n"], [2, 3], None])))
    return f"a type for {name!r}"


# --- Structure.

def into_branch(rng, model):
    """Moves a node into both branches of an If; its inputs are captured."""
    g = pick(rng, [g for g in of_kind(model, "Graph") if g.all(1)])
    if not g:
        return None
    order = g.all(1)
    at = rng.randrange(len(order))
    n = order[at]
    condition = fresh(rng, model)
    branches = []
    for side in ("then_branch", "else_branch"):
        inner = n.copy()
        outputs = [f"{o}_{side[0]}" if o else "" for o in n.texts(2)]
        inner.set(2, *outputs)
        b = Message("Graph").set(1, inner).set(2, side).set(12, *[make_value(o) for o in outputs if o])
        if rng.random() < 0.5:  # with the weights that only it uses
            used = [i for one in order for i in one.texts(1)]
            for t in g.all(5):
                if side == "then_branch" and t.text(8) in n.texts(1) and used.count(t.text(8)) == 1 and rng.random() < 0.5:
                    own = t.copy().set(8, t.text(8) + "_own")
                    inner.set(1, *[own.text(8) if i == t.text(8) else i for i in inner.texts(1)])
                    b.add(5, own)
        branches.append(make_attribute(side, GRAPH, 6, b))
    order[at] = make_node("If", [condition], [o for o in n.texts(2) if o] or ["none"], branches)
    g.set(1, *order)
    g.add(5, make_tensor(condition, [], 9, bytes([rng.randrange(2)])))
    return f"{n.text(3)} inside of an If"


def into_loop(rng, model):
    g = model.get(7)
    order = g.all(1)
    if not order:
        return None
    at = rng.randrange(len(order))
    n = order[at]
    tag = fresh(rng, model)
    inner = n.copy()
    outputs = [f"{o}_in" for o in n.texts(2)]
    inner.set(2, *outputs)
    b = Message("Graph").set(1, make_node("Identity", [f"{tag}c"], [f"{tag}k"]), inner).set(2, "body")
    b.set(11, make_value(f"{tag}i", 7, []), make_value(f"{tag}c", 9, []))
    b.set(12, make_value(f"{tag}k", 9, []), *[make_value(o) for o in outputs])
    squeezed = [f"{o}_rows" for o in n.texts(2)]
    order[at:at + 1] = [make_node("Loop", [f"{tag}n", ""], squeezed, [make_attribute("body", GRAPH, 6, b)])] + [
        make_node("Squeeze", [rows, f"{tag}z"], [o]) for rows, o in zip(squeezed, n.texts(2))]
    g.set(1, *order)
    g.add(5, make_tensor(f"{tag}n", [], 7, (1).to_bytes(8, "little"))).add(5, make_tensor(f"{tag}z", [1], 7, bytes(8)))
    return f"{n.text(3)} inside of a Loop"


def into_function(rng, model):
    """Replaces a node with a call of a function that contains it."""
    body = pick(rng, [g for g in of_kind(model, "Graph") if g.all(1)])
    n = pick(rng, body.all(1)) if body else None
    if not n:
        return None
    name = fresh(rng, model)
    inputs = [f"i{k}" if v else "" for k, v in enumerate(n.texts(1))]
    outputs = [f"o{k}" if v else "" for k, v in enumerate(n.texts(2))]
    inner = n.copy().set(1, *inputs).set(2, *outputs)
    f = Message("Function").set(1, name).set(4, *[i or f"absent{k}" for k, i in enumerate(inputs)]).set(5, *[o or f"none{k}" for k, o in enumerate(outputs)])
    f.set(7, inner).set(9, *[o.copy() for o in model.all(8)]).set(10, "made")
    if rng.random() < 0.15:  # a recursive function
        f.add(7, make_node(name, [o for o in outputs if o][:1] or [""], ["again"], domain="made"))
    model.add(25, f)
    if not any(o.text(1) == "made" for o in model.all(8)):
        model.add(8, Message("Opset").set(1, "made").set(2, 1))
    n.set(4, name).set(7, "made").set(5)
    return f"{n.text(3)} is a function"


def change_versions(rng, model):
    what = rng.choice(["opset", "opset", "opset", "ir", "alias", "twice", "none", "function"])
    if what == "opset":
        o = pick(rng, model.all(8))
        if not o:
            return None
        o.set(2, rng.choice([0, 1, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 99]))
        return f"opset {o.text(1)!r} {o.get(2)}"
    if what == "ir":
        model.set(1, rng.choice([0, 1, 3, 4, 7, 8, 9, 10, 11, 13, 99]))
        return f"IR version {model.get(1)}"
    if what == "alias":
        for o in model.all(8):
            if o.text(1) == "":
                o.set(1, "ai.onnx")
    elif what == "twice":
        model.add(8, Message("Opset").set(1, rng.choice(["", "ai.onnx", "com.microsoft", "ai.onnx.ml"])).set(2, rng.choice([1, 13, 17])))
    elif what == "none":
        model.set(8)
    else:
        f = pick(rng, model.all(25))
        if not f:
            return None
        f.set(9, Message("Opset").set(2, rng.choice([7, 13, 18, 21])))
    return f"versions: {what}"


def describe(rng, model):
    key = rng.choice(["ounce.version", "ounce.plan", "ounce.source", "ounce.contract", "any"])
    text = rng.choice(["", "{}", '{"version": 1}', '{"version": 1, "inputs": []}', "\x1b[31m", "x" * 5000, "null", "[[[["])
    model.add(14, Message("Entry").set(1, key).set(2, text))
    return f"metadata {key!r} is {text[:20]!r}"


MUTATIONS = [reconnect, take_output_of_another, change_inputs, change_outputs, rename_everywhere, rename_nodes, reorder, drop_node,
             bypass_node, repeat_node, change_op, change_domain, insert_after, change_attribute, change_attribute, add_attribute,
             change_initializer, change_initializer, change_initializer, move_initializer, move_initializer, share_initializer,
             change_value, change_value, add_output, annotate, into_branch, into_loop, into_function, change_versions, describe]


def prefixed(model, prefix):
    """The model with new names for all values, so that it can be merged with others."""
    def changed(values):
        return [prefix + v if v else v for v in values]
    for n in nodes(model):
        n.set(1, *changed(n.texts(1))).set(2, *changed(n.texts(2)))
    for g in of_kind(model, "Graph"):
        for number in (11, 12, 13):
            for v in g.all(number):
                v.set(1, *changed(v.texts(1)))
        for t in g.all(5):
            t.set(8, *changed(t.texts(8)))
    for f in model.all(25):
        f.set(4, *changed(f.texts(4))).set(5, *changed(f.texts(5)))
    return model


def splice(rng, first, second):
    """Merges two models; sometimes the second reads the outputs of the first."""
    other = prefixed(second, "s_")
    a, b = first.get(7), other.get(7)
    for number in (1, 5, 11, 12, 13, 15):
        for one in b.all(number):
            a.add(number, one)
    taken = {f.text(1) for f in first.all(25)}
    for f in other.all(25):
        if f.text(1) not in taken:
            first.add(25, f)
    for o in other.all(8):
        if o.text(1) not in {mine.text(1) for mine in first.all(8)}:
            first.add(8, o)
    given, wanted = pick(rng, a.all(12)), pick(rng, b.all(11))
    if given and wanted and rng.random() < 0.6:
        a.remove(11, next(v for v in a.all(11) if v is wanted))
        a.add(1, make_node("Identity", [given.text(1)], [wanted.text(1)]))
        if rng.random() < 0.5:  # at the correct place
            a.set(1, a.all(1)[-1], *a.all(1)[:-1]) if rng.random() < 0.2 else None
    return "spliced"


def mutant(seed, sources, only=None):
    """The bytes of a mutant, a description of its mutations, and their number.

    `sources` are groups of models by name; `only` applies some of the mutations, to find the relevant ones."""
    rng = random.Random(seed)
    def chosen():
        group = rng.choice(sources)
        name = rng.choice(sorted(group))
        return name, Message.parse("Model", group[name])
    name, model = chosen()
    steps = [rng.random() for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4]))]
    done = [name]
    if rng.random() < 0.06:
        other, second = chosen()
        if only is None or -1 in only:
            done.append(splice(random.Random(f"{seed} splice"), model, second) + f" with {other}")
    for i, step in enumerate(steps):
        if only is not None and i not in only:
            continue
        own = random.Random(step)
        for _ in range(20):  # not every mutation fits every model
            change = own.choice(MUTATIONS)
            what = change(own, model)
            if what:
                done.append(what)
                break
    return model.bytes(), done, len(steps)
