"""The models that are mutated. Each exercises another code path, and is small enough to be run a thousand times."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from onnx_bytes import (INT64, attribute, constant, function, graph, graph_attribute, ints, model,  # noqa: E402
                        node, opset, tensor, value, weight)
from onnx_tree import Message  # noqa: E402

BOOL, INT8, INT32 = 9, 3, 6


def scalar(name, number, data_type=INT64):
    return tensor(name, [], number.to_bytes({INT64: 8, BOOL: 1, INT8: 1, INT32: 4}[data_type], "little", signed=number < 0), data_type)


def gemm(version):
    return model(graph(
        [node("Gemm", ["x", "w", "b"], ["h"], [attribute("transB", 1)]), node("Relu", ["h"], ["r"]), node("MatMul", ["r", "v"], ["y"])],
        [value("x", ["n", 12])], [value("y", ["n", 5])], [weight("w", 9, 12), weight("b", 9), weight("v", 9, 5)]), version=version)


def conv(version):
    return model(graph(
        [node("Conv", ["x", "w", "b"], ["c"], [attribute("pads", [1, 1, 1, 1])]),
         node("BatchNormalization", ["c", "s", "b", "m", "q"], ["n"]), node("Relu", ["n"], ["r"]),
         node("Conv", ["r", "d"], ["g"], [attribute("group", 6)]), node("GlobalAveragePool", ["g"], ["p"]),
         node("Flatten", ["p"], ["f"]), node("MatMul", ["f", "v"], ["l"]), node("Softmax", ["l"], ["y"])],
        [value("x", [1, 3, 7, 7])], [value("y", [1, 4])],
        [weight("w", 6, 3, 3, 3), weight("b", 6), weight("s", 6), weight("m", 6),
         tensor("q", [6], b"\0\0\x80\x3f" * 6), weight("d", 6, 1, 3, 3), weight("v", 6, 4)]), version=version)


def residual():
    return model(graph(
        [node("Conv", ["x", "w"], ["a"], [attribute("pads", [1, 1])]), node("Add", ["a", "x"], ["s"]),
         node("ConvTranspose", ["s", "t"], ["u"], [attribute("strides", [2])]), node("Concat", ["u", "u"], ["y"], [attribute("axis", 1)])],
        [value("x", ["n", 4, 8])], [value("y", ["n", 10, "k"]), value("s", ["n", 4, 8])],
        [weight("w", 4, 4, 3), weight("t", 4, 5, 3)]), version=17)


def recurrent(kind, gates):
    return model(graph(
        [node(kind, ["x", "w", "r", "b"], ["y", "h"], [attribute("hidden_size", 6)])],
        [value("x", [3, 1, 5])], [value("y", [3, 1, 1, 6]), value("h", [1, 1, 6])],
        [weight("w", 1, gates * 6, 5), weight("r", 1, gates * 6, 6), weight("b", 1, 2 * gates * 6)]), version=14)


def attention():
    return model(graph(
        [node("Gather", ["table", "ids"], ["e"]), node("LayerNormalization", ["e", "g", "h"], ["n"]),
         node("MatMul", ["n", "q"], ["a"]), node("MatMul", ["n", "k"], ["b"]), node("Transpose", ["b"], ["t"], [attribute("perm", [0, 2, 1])]),
         node("MatMul", ["a", "t"], ["s"]), node("Softmax", ["s"], ["p"]), node("MatMul", ["p", "n"], ["o"]),
         node("Add", ["o", "bias"], ["z"]), node("Erf", ["z"], ["y"])],
        [value("ids", [1, 4], INT64)], [value("y", [1, 4, 8])],
        [weight("table", 11, 8), weight("g", 8), weight("h", 8), weight("q", 8, 8), weight("k", 8, 8), weight("bias", 8)]), version=17)


def branches():
    then = graph([node("MatMul", ["x", "w"], ["t"])], outputs=[value("t", ["n", 6])])
    other = graph([node("Mul", ["x", "k"], ["m"]), node("MatMul", ["m", "v"], ["e"])], outputs=[value("e", ["n", 6])],
                  initializers=[weight("v", 8, 6), weight("k", 8)])
    return model(graph(
        [node("ReduceSum", ["x"], ["s"], [attribute("keepdims", 0)]), node("Less", ["s", "zero"], ["c"]),
         node("If", ["c"], ["y"], [graph_attribute("then_branch", then), graph_attribute("else_branch", other)])],
        [value("x", ["n", 8])], [value("y", ["n", 6])], [weight("w", 8, 6), tensor("zero", [], bytes(4))]), version=17)


def loop():
    body = graph([node("MatMul", ["state", "w"], ["next"]), node("Identity", ["go"], ["still"]), node("Relu", ["next"], ["row"])],
                 [value("i", [], INT64), value("go", [], BOOL), value("state", [2, 6])],
                 [value("still", [], BOOL), value("next", [2, 6]), value("row", [2, 6])], [weight("w", 6, 6)])
    return model(graph(
        [node("Loop", ["trips", "yes", "x"], ["y", "rows"], [graph_attribute("body", body)])],
        [value("x", [2, 6])], [value("y", [2, 6]), value("rows", ["k", 2, 6])], [scalar("trips", 3), scalar("yes", 1, BOOL)]), version=17)


def functions():
    body = [node("MatMul", ["a", "b"], ["m"]), node("Relu", ["m"], ["c"])]
    own = [constant("k", weight("k", 6, 6)), node("MatMul", ["a", "k"], ["c"])]
    return model(graph(
        [node("Dense", ["x", "w"], ["h"], domain="here"), node("Own", ["h"], ["y"], domain="here")],
        [value("x", ["n", 7])], [value("y", ["n", 6])], [weight("w", 7, 6)]), version=17, other_opsets=[opset(1, "here")],
        functions=[function("Dense", ["a", "b"], ["c"], body, "here", 17), function("Own", ["a"], ["c"], own, "here", 17)])


def quantized():
    scale = tensor("scale", [], b"\x0a\xd7\x23\x3c")
    return model(graph(
        [node("QuantizeLinear", ["x", "scale", "zero"], ["q"]), node("DequantizeLinear", ["q", "scale", "zero"], ["d"]),
         node("DequantizeLinear", ["codes", "scale", "zero"], ["w"]), node("MatMul", ["d", "w"], ["m"]),
         node("DynamicQuantizeLinear", ["m"], ["dq", "ds", "dz"]), node("DequantizeLinear", ["dq", "ds", "dz"], ["f"]),
         node("MatMul", ["f", "v"], ["y"])],
        [value("x", [2, 8])], [value("y", [2, 5])],
        [scale, scalar("zero", 0, INT8), tensor("codes", [8, 6], bytes(range(48)), INT8), weight("v", 6, 5)]), version=17)


def shapes():
    return model(graph(
        [constant("c", weight("c", 6, 10)), node("Reshape", ["x", "to"], ["r"]), node("MatMul", ["r", "c"], ["m"]),
         node("Slice", ["m", "from", "until", "axes"], ["s"]), node("Split", ["s", "parts"], ["a", "b"], [attribute("axis", 1)]),
         node("Mul", ["a", "b"], ["p"]), node("Unsqueeze", ["p", "axes"], ["u"]), node("Shape", ["u"], ["k"]),
         node("Expand", ["one", "k"], ["e"]), node("Where", ["mask", "u", "e"], ["y"])],
        [value("x", [3, 4])], [value("y", [2, 1, 4]), value("k", [3], INT64)],
        [ints("to", 2, 6), ints("from", 0), ints("until", 8), ints("axes", 1), ints("parts", 4, 4), tensor("one", [1], b"\0\0\x80\x3f"),
         tensor("mask", [4], bytes([1, 0, 1, 1]), BOOL)]), version=17)


def contrib():
    return model(graph(
        [node("FusedMatMul", ["x", "w"], ["m"], [attribute("transB", 1)], domain="com.microsoft"),
         node("Gelu", ["m"], ["g"], domain="com.microsoft"), node("BiasGelu", ["g", "b"], ["y"], domain="com.microsoft")],
        [value("x", ["n", 8])], [value("y", ["n", 6])], [weight("w", 6, 8), weight("b", 6)]),
        version=17, other_opsets=[opset(1, "com.microsoft")])


def einsum():
    return model(graph(
        [node("Einsum", ["x", "w"], ["e"], [attribute("equation", "bij,jk->bik")]), node("PRelu", ["e", "slope"], ["p"]),
         node("Reshape", ["p", "flat"], ["f"]), node("Gemm", ["f", "v", "b"], ["y"], [attribute("transA", 1)]),
         node("Cast", ["y"], ["z"], [attribute("to", 11)])],
        [value("x", [1, 3, 5])], [value("y", [4, 2]), value("z", [4, 2], 11)],
        [weight("w", 5, 4), weight("slope", 4), weight("v", 3, 2), weight("b", 2), ints("flat", 3, 4)]), version=17)


def handmade():
    made = {f"gemm{version}": gemm(version) for version in (7, 11, 13, 19, 21)}
    made |= {f"conv{version}": conv(version) for version in (9, 13, 17)}
    made |= {"residual": residual(), "lstm": recurrent("LSTM", 4), "gru": recurrent("GRU", 3), "rnn": recurrent("RNN", 1),
             "attention": attention(), "branches": branches(), "loop": loop(), "functions": functions(), "quantized": quantized(),
             "shapes": shapes(), "contrib": contrib(), "einsum": einsum()}
    return made


def with_constants(path):
    """A backend test with all inputs but its first as initializers, because backend tests pass even weights as inputs."""
    tree = Message.parse("Model", path.read_bytes())
    body = tree.get(7)
    inputs = body.all(11)
    for i, one in enumerate(inputs[1:], 1):
        file = path.parent / "test_data_set_0" / f"input_{i}.pb"
        if file.exists():
            body.remove(11, one)
            body.add(5, Message.parse("Tensor", file.read_bytes()).set(8, one.text(1)))
    return tree.bytes()


LOSES_EVERYTHING = {"fatal"}  # a model that loses all accuracy with 8-bit weights by design


def found(folders, largest):
    """The models in some folders, by name."""
    models = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.onnx")):
            if not 0 < path.stat().st_size <= largest or path.stem in LOSES_EVERYTHING:
                continue
            try:
                content = with_constants(path) if path.name == "model.onnx" else path.read_bytes()
                Message.parse("Model", content)
            except (IndexError, KeyError, AttributeError):
                continue  # invalid by design
            models[path.parent.name if path.name == "model.onnx" else path.stem] = content
    return models
