"""Makes random valid networks: stacks of all kinds of layers that formats treat differently, with shared and aliased
weights, branches and loops. network(seed) gives the same bytes on every machine.

There are three kinds of networks, for images [1, C, H, W], sequences [1, C, L] and rows [N, F]; each layer keeps the rank.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from onnx_bytes import (INT64, attribute, constant, floats_of, graph, graph_attribute, ints, model, node,  # noqa: E402
                        random_floats, size_of, tensor, value)

BOOL = 9
OPSETS = (11, 13, 14, 17, 18, 19, 21)
ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "Softplus", "HardSigmoid")


class Network:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.seed = seed
        self.version = self.draw.choice(OPSETS)
        self.nodes, self.weights, self.count = [], {}, 0
        self.shared = {}  # by shape: names of weights that may be used again

    def fresh(self, kind="v"):
        self.count += 1
        return f"{kind}{self.count}"

    def weight(self, *dims):
        """A new weight, or sometimes the weight of another layer, directly or through an Identity."""
        if dims in self.shared and self.draw.random() < 0.3:
            name = self.draw.choice(self.shared[dims])
            if self.draw.random() < 0.5:
                return name
            alias = self.fresh("alias")
            self.nodes.append(node("Identity", [name], [alias]))
            return alias
        name = self.fresh("w")
        made = self.values(name, *dims)
        if self.draw.random() < 0.15:
            self.nodes.append(constant(name, made))
        else:
            self.weights[name] = made
        self.shared.setdefault(dims, []).append(name)
        return name

    def values(self, name, *dims):
        """A tensor of random floats; some have an outlier or a row of zeros."""
        floats = random_floats(f"{self.seed}/{name}", size_of(dims), self.draw.choice([0.05, 0.3, 1]))
        if self.draw.random() < 0.1:
            floats[self.draw.randrange(len(floats))] = 40.0
        if len(dims) > 1 and self.draw.random() < 0.1:
            width = len(floats) // dims[0]
            floats[:width] = [0.0] * width
        return tensor(name, dims, floats_of(floats))

    def add(self, op, inputs, attributes=()):
        output = self.fresh()
        self.nodes.append(node(op, inputs, [output], attributes))
        return output

    def scalar(self, number):
        name = self.fresh("k")
        self.weights[name] = tensor(name, [], floats_of([number]))
        return name

    def activation(self, x):
        return self.add(self.draw.choice(ACTIVATIONS), [x])

    # Layers: (name, dims) to (name, dims).

    def conv(self, x, dims):
        spatial = len(dims) - 2
        group = dims[1] if self.draw.random() < 0.3 else 1
        outputs = dims[1] if group > 1 else self.draw.choice([3, 8, 12])
        taps = self.draw.choice([1, 3])
        inputs = [x, self.weight(outputs, dims[1] // group, *[taps] * spatial)]
        if self.draw.random() < 0.5:
            inputs.append(self.weight(outputs))
        y = self.add("Conv", inputs, [attribute("pads", [taps // 2] * 2 * spatial), attribute("group", group)])
        return y, [dims[0], outputs, *dims[2:]]

    def conv_transpose(self, x, dims):
        spatial, outputs = len(dims) - 2, self.draw.choice([3, 8])
        y = self.add("ConvTranspose", [x, self.weight(dims[1], outputs, *[2] * spatial)], [attribute("strides", [2] * spatial)])
        return y, [dims[0], outputs, *[2 * dim for dim in dims[2:]]]

    def batch_norm(self, x, dims):
        variance = self.fresh("var")
        self.weights[variance] = tensor(variance, [dims[1]], floats_of([0.5 + self.draw.random() for _ in range(dims[1])]))
        inputs = [x, self.weight(dims[1]), self.weight(dims[1]), self.weight(dims[1]), variance]
        return self.add("BatchNormalization", inputs), dims

    def pool(self, x, dims):
        if min(dims[2:]) < 2:
            return x, dims
        spatial = len(dims) - 2
        kind = self.draw.choice(["MaxPool", "AveragePool"])
        y = self.add(kind, [x], [attribute("kernel_shape", [2] * spatial), attribute("strides", [2] * spatial)])
        return y, [*dims[:2], *[dim // 2 for dim in dims[2:]]]

    def residual(self, x, dims):
        y, after = self.conv(x, dims)
        if after != dims:
            y = self.add("Conv", [y, self.weight(dims[1], after[1], *[1] * (len(dims) - 2))])
        return self.add(self.draw.choice(["Add", "Mul", "Sub"]), [x, y]), dims

    def to_rows(self, x, dims):
        pooled = self.add("GlobalAveragePool", [x])
        return self.add("Flatten", [pooled]), [dims[0], dims[1]]

    def dense(self, x, dims):
        outputs = self.draw.choice([5, 16, 24])
        if self.draw.random() < 0.5:
            y = self.add("MatMul", [x, self.weight(dims[-1], outputs)])
            if self.draw.random() < 0.5:
                y = self.add("Add", [y, self.weight(outputs)])
        else:
            y = self.add("Gemm", [x, self.weight(outputs, dims[-1]), self.weight(outputs)], [attribute("transB", 1)])
        return y, [*dims[:-1], outputs]

    def layer_norm(self, x, dims):
        if self.version < 17:
            return self.activation(x), dims
        return self.add("LayerNormalization", [x, self.weight(dims[-1]), self.weight(dims[-1])]), dims

    def branch(self, x, dims):
        outputs = self.draw.choice([5, 16])
        total = self.add("ReduceSum", [x], [attribute("keepdims", 0)])
        choice = self.add("Less", [total, self.scalar(0.1)])
        bodies = []
        for name in ("then_branch", "else_branch"):
            inner, result = self.fresh("w"), self.fresh("b")
            bodies.append(graph_attribute(name, graph([node("MatMul", [x, inner], [result])], outputs=[value(result, ["n", outputs])],
                                                      initializers=[self.values(inner, dims[-1], outputs)])))
        return self.add("If", [choice], bodies), [*dims[:-1], outputs]

    def loop(self, x, dims):
        size = dims[-1]
        inner = self.fresh("w")
        names = [self.fresh("l") for _ in range(5)]
        i, go, state, still, after = names
        body = graph([node("MatMul", [state, inner], [f"{after}m"]), node("Tanh", [f"{after}m"], [after]), node("Identity", [go], [still])],
                     [value(i, [], INT64), value(go, [], BOOL), value(state, ["n", size])],
                     [value(still, [], BOOL), value(after, ["n", size])], [self.values(inner, size, size)])
        trips, yes = self.fresh("t"), self.fresh("y")
        self.weights[trips] = tensor(trips, [], (3).to_bytes(8, "little"), INT64)
        self.weights[yes] = tensor(yes, [], b"\1", BOOL)
        return self.add("Loop", [trips, yes, x], [graph_attribute("body", body)]), dims

    def recurrent(self, x, dims):
        """[N, F] as a sequence of N steps of one sample."""
        kind, gates = self.draw.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
        size, to, back = 6, self.fresh("s"), self.fresh("s")
        self.weights[to] = ints(to, -1, 1, dims[-1])
        self.weights[back] = ints(back, -1, size)
        steps = self.add("Reshape", [x, to])
        inputs = [steps, self.weight(1, gates * size, dims[-1]), self.weight(1, gates * size, size), self.weight(1, 2 * gates * size)]
        y = self.add(kind, inputs, [attribute("hidden_size", size)])
        return self.add("Reshape", [y, back]), [dims[0], size]

    def attention(self, x, dims):
        q, k = self.dense_to(x, dims, 8), self.dense_to(x, dims, 8)
        scores = self.add("MatMul", [q, self.add("Transpose", [k], [attribute("perm", [1, 0])])])
        shares = self.add("Softmax", [self.add("Mul", [scores, self.scalar(0.35)])], [attribute("axis", 1)])
        return self.add("MatMul", [shares, x]), dims

    def dense_to(self, x, dims, outputs):
        return self.add("MatMul", [x, self.weight(dims[-1], outputs)])

    def build(self):
        kind = self.draw.choice(["image", "sequence", "rows", "tokens"])
        x, data_type = "x", None
        if kind == "image":
            dims = [1, self.draw.choice([1, 3, 4]), 8, 8]
        elif kind == "sequence":
            dims = [1, self.draw.choice([1, 4]), 16]
        elif kind == "rows":
            dims = [4, self.draw.choice([7, 16])]
        else:
            dims, data_type = [4], INT64
        entry = value("x", dims) if data_type is None else value("x", dims, INT64)
        if kind == "tokens":  # the table may be shared with the last layer, as in language models
            table = self.weight(12, 16)
            x, dims = self.add("Gather", [table, x]), [4, 16]
        spatial = [self.conv, self.conv, self.conv_transpose, self.batch_norm, self.pool, self.residual]
        if kind in ("image", "sequence"):
            for _ in range(self.draw.randint(1, 4)):
                x, dims = self.draw.choice(spatial)(x, dims)
                if self.draw.random() < 0.6:
                    x = self.activation(x)
            x, dims = self.to_rows(x, dims)
        rows = [self.dense, self.dense, self.layer_norm, self.branch, self.loop, self.recurrent, self.attention]
        for _ in range(self.draw.randint(1, 4)):
            x, dims = self.draw.choice(rows)(x, dims)
            if self.draw.random() < 0.4:
                x = self.activation(x)
        if kind == "tokens" and dims[-1] == 16:
            x, dims = self.add("MatMul", [x, self.add("Transpose", [table], [attribute("perm", [1, 0])])]), [4, 12]
        self.nodes.append(node("Identity", [x], ["y"]))
        body = graph(self.nodes, [entry], [value("y", dims)], list(self.weights.values()))
        return model(body, version=self.version, ir_version=7 if self.version < 15 else 8)


def network(seed):
    return Network(seed).build()
