#include "corpus/storage_models.h"

#include <cmath>
#include <cstring>

namespace ounce::test {
namespace {

std::string string_attribute(const std::string& name, const std::string& value) {
  return field(1, name) + field(4, value) + field(20, std::int64_t{3});
}

std::string weight(const std::string& name, const Dims& dims, std::uint32_t seed = 1) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  return float_tensor(name, dims, weights_like(count, seed));
}

runtime::Tensor bool_input(bool value) {
  return {ElementType::kBool, {}, std::string(1, value ? '\1' : '\0')};
}

// x [4, 64] · w [64, 48]
ModelBuilder matmul_model(std::int64_t opset = 17, std::int64_t ir_version = 8) {
  ModelBuilder model(opset, ir_version);
  model.input("x", kFloat, {4, 64}).output("y", kFloat, {4, 48});
  model.initializer(weight("w", {64, 48})).node("MatMul", {"x", "w"}, {"y"});
  return model;
}

StorageCase make(const std::string& name, const ModelBuilder& model, std::vector<runtime::NamedTensor> data,
                 const Strings& weights) {
  StorageCase result;
  result.name = name;
  result.model = model.bytes();
  result.data = std::move(data);
  result.weights = weights;
  if (name.find("Opset21") != std::string::npos) result.oldest_runtime = 18;
  return result;
}

StorageCase conv(const std::string& name, const std::string& op, const Dims& x, const Dims& w, const Dims& y,
                 std::int64_t group, std::int64_t bias) {
  ModelBuilder model;
  model.input("x", kFloat, x).output("y", kFloat, y);
  model.initializer(weight("w", w)).initializer(weight("b", {bias}, 2));
  model.node(op, {"x", "w", "b"}, {"y"}, {int_attribute("group", group)});
  return make(name, model, {{"x", float_input(x, 1)}}, {"w"});
}

StorageCase recurrent(const std::string& name, const std::string& op, std::int64_t gates,
                      const std::string& direction, std::int64_t layout) {
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1, hidden = 24, features = 20, steps = 5,
                     batch = 2;
  const Dims x = layout == 0 ? Dims{steps, batch, features} : Dims{batch, steps, features};
  const Dims y =
      layout == 0 ? Dims{steps, directions, batch, hidden} : Dims{batch, steps, directions, hidden};
  ModelBuilder model;
  model.input("x", kFloat, x).output("y", kFloat, y);
  model.initializer(weight("w", {directions, gates * hidden, features}, 1))
      .initializer(weight("r", {directions, gates * hidden, hidden}, 2));
  model.initializer(weight("b", {directions, 2 * gates * hidden}, 3));
  Strings attributes = {int_attribute("hidden_size", hidden), string_attribute("direction", direction)};
  if (layout != 0) attributes.push_back(int_attribute("layout", layout));
  model.node(op, {"x", "w", "r", "b"}, {"y"}, attributes);
  return make(name, model, {{"x", float_input(x, 1)}}, {"w", "r"});
}

// A branch or body that ends in MatMul(x, w) → y.
GraphBuilder branch(const std::string& output, std::uint32_t seed) {
  GraphBuilder graph;
  graph.output(output, kFloat, {4, 48})
      .initializer(weight("w", {64, 48}, seed))
      .node("MatMul", {"x", "w"}, {output});
  return graph;
}

ModelBuilder if_model(const GraphBuilder& then_branch, const GraphBuilder& else_branch) {
  ModelBuilder model;
  model.input("c", kBool, {}).input("x", kFloat, {4, 64}).output("y", kFloat, {4, 48});
  model.node("If", {"c"}, {"y"},
             {graph_attribute("then_branch", then_branch.bytes()),
              graph_attribute("else_branch", else_branch.bytes())});
  return model;
}

ModelBuilder loop_model(const std::string& body_weight, const std::string& outer_weight) {
  GraphBuilder body;
  body.input("i", kInt64, {}).input("go", kBool, {}).input("s", kFloat, {4, 48});
  body.output("go_on", kBool, {}).output("t", kFloat, {4, 48});
  if (!body_weight.empty()) body.initializer(body_weight);
  body.node("Identity", {"go"}, {"go_on"}).node("MatMul", {"s", "w"}, {"t"});
  ModelBuilder model;
  const std::string three = int64_input({}, {3}).bytes;
  model.input("x", kFloat, {4, 48}).output("y", kFloat, {4, 48});
  model.initializer(tensor("trips", kInt64, {}, three))
      .initializer(tensor("yes", kBool, {}, std::string(1, '\1')));
  if (!outer_weight.empty()) model.initializer(outer_weight);
  model.node("Loop", {"trips", "yes", "x"}, {"y"}, {graph_attribute("body", body.bytes())});
  return model;
}

std::string to_half(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const std::int32_t exponent =
        static_cast<std::int32_t>((bits >> 23U) & 255U) - 112;  // test values are normal or tiny
    std::uint32_t half = (bits >> 16U) & 0x8000U;
    if (exponent > 0) half |= static_cast<std::uint32_t>(exponent) << 10U | ((bits >> 13U) & 1023U);
    bytes += static_cast<char>(half & 255U);
    bytes += static_cast<char>(half >> 8U);
  }
  return bytes;
}

std::string to_bfloat16(const std::vector<float>& values) {
  const std::string floats = raw_floats(values);
  std::string bytes;
  for (std::size_t i = 0; i < floats.size(); i += 4) bytes += floats.substr(i + 2, 2);
  return bytes;
}

std::string to_double(const std::vector<float>& values) {
  const std::vector<double> doubles(values.begin(), values.end());
  std::string bytes(doubles.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), doubles.data(), bytes.size());
  return bytes;
}

StorageCase typed_matmul(const std::string& name, int type,
                         std::string (*encode)(const std::vector<float>&)) {
  ModelBuilder model(17, 8);
  model.input("x", type, {4, 64}).output("y", type, {4, 48});
  model.initializer(tensor("w", type, {64, 48}, encode(weights_like(std::size_t{64} * 48, 1))))
      .node("MatMul", {"x", "w"}, {"y"});
  const runtime::Tensor x{
      static_cast<ElementType>(type), {4, 64}, encode(weights_like(std::size_t{4} * 64, 2))};
  return make(name, model, {{"x", x}}, {"w"});
}

// y = float(table[i])
StorageCase typed_lookup(const std::string& name, int type,
                         std::string (*encode)(const std::vector<float>&)) {
  ModelBuilder model(17, 8);
  model.input("i", kInt64, {3}).output("y", kFloat, {3, 32});
  model.initializer(tensor("table", type, {64, 32}, encode(weights_like(std::size_t{64} * 32, 1))));
  model.node("Gather", {"table", "i"}, {"r"}).node("Cast", {"r"}, {"y"}, {int_attribute("to", kFloat)});
  return make(name, model, {{"i", int64_input({3}, {5, 63, 0})}}, {"table"});
}

StorageCase lookup(const std::string& name, const Dims& table, std::int64_t axis, const Dims& index_dims,
                   const std::vector<std::int64_t>& indices) {
  Dims y(table.begin(), table.begin() + axis);
  y.insert(y.end(), index_dims.begin(), index_dims.end());
  y.insert(y.end(), table.begin() + axis + 1, table.end());
  ModelBuilder model;
  model.input("i", kInt64, index_dims).output("y", kFloat, y);
  model.initializer(weight("table", table))
      .node("Gather", {"table", "i"}, {"y"}, {int_attribute("axis", axis)});
  return make(name, model, {{"i", int64_input(index_dims, indices)}}, {"table"});
}

// x · w with the values of w changed by `change(row, column, value)`.
template <class Change>
StorageCase changed(const std::string& name, const Change& change) {
  std::vector<float> values = weights_like(std::size_t{64} * 48, 1);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = change(i / 48, i % 48, values[i]);
  ModelBuilder model;
  model.input("x", kFloat, {4, 64}).output("y", kFloat, {4, 48});
  model.initializer("w", {64, 48}, values).node("MatMul", {"x", "w"}, {"y"});
  return make(name, model, {{"x", float_input({4, 64}, 1)}}, {"w"});
}

// Conv, Gemm with a bias and Gather, in the form of any opset.
StorageCase at_opset(std::int64_t opset, std::int64_t ir_version) {
  ModelBuilder model(opset, ir_version);
  model.input("x", kFloat, {1, 4, 8, 8}).input("i", kInt64, {3}).output("y", kFloat, {3, 24});
  model.initializer(weight("conv", {16, 4, 3, 3}, 1)).initializer(weight("table", {32, 24}, 2));
  model.initializer(weight("gemm", {576, 24}, 3)).initializer(weight("bias", {24}, 4));
  model.node("Conv", {"x", "conv"}, {"c"})
      .node("Flatten", {"c"}, {"f"})
      .node("Gemm", {"f", "gemm", "bias"}, {"g"});
  model.node("Gather", {"table", "i"}, {"t"}).node("Add", {"g", "t"}, {"y"});
  return make("Opset" + std::to_string(opset), model,
              {{"x", float_input({1, 4, 8, 8}, 1)}, {"i", int64_input({3}, {31, 0, 7})}}, {"conv", "gemm"});
}

}  // namespace

std::vector<StorageCase> layer_models() {
  std::vector<StorageCase> list;
  list.push_back(make("MatMul", matmul_model(), {{"x", float_input({4, 64}, 1)}}, {"w"}));
  list.push_back(make("MatMulOpset21", matmul_model(21, 10), {{"x", float_input({4, 64}, 1)}}, {"w"}));
  list.push_back(make("MatMulOpset13", matmul_model(13, 7), {{"x", float_input({4, 64}, 1)}}, {"w"}));
  {
    ModelBuilder model;
    model.input("x", kFloat, {32, 6}).output("y", kFloat, {48, 6});
    model.initializer(weight("w", {48, 32})).node("MatMul", {"w", "x"}, {"y"});
    list.push_back(make("MatMulOnTheLeft", model, {{"x", float_input({32, 6}, 1)}}, {"w"}));
  }
  for (const std::int64_t opset : {17, 21}) {
    ModelBuilder model(opset, opset == 17 ? 8 : 10);
    model.input("x", kFloat, {3, 4, 32}).output("y", kFloat, {3, 4, 16});
    model.initializer(weight("w", {3, 32, 16})).node("MatMul", {"x", "w"}, {"y"});
    list.push_back(
        make("MatMul3dOpset" + std::to_string(opset), model, {{"x", float_input({3, 4, 32}, 1)}}, {"w"}));
  }
  {
    ModelBuilder model;
    model.input("x", kFloat, {4, 33}).output("y", kFloat, {4, 31});
    model.initializer(weight("w", {33, 31})).node("MatMul", {"x", "w"}, {"y"});
    list.push_back(make("OddNumberOfElements", model, {{"x", float_input({4, 33}, 1)}}, {"w"}));
  }
  {
    ModelBuilder model(21, 10);
    model.input("x", kFloat, {4, 33}).output("y", kFloat, {4, 31});
    model.initializer(weight("w", {31, 33})).node("Gemm", {"x", "w"}, {"y"}, {int_attribute("transB", 1)});
    list.push_back(make("OddNumberOfElementsOpset21", model, {{"x", float_input({4, 33}, 1)}}, {"w"}));
  }
  for (const std::int64_t opset : {17, 21}) {
    ModelBuilder model(opset, opset == 17 ? 8 : 10);
    model.input("x", kFloat, {4, 64}).output("y", kFloat, {4, 48});
    model.initializer(weight("w", {48, 64})).initializer(weight("b", {48}, 2));
    model.node("Gemm", {"x", "w", "b"}, {"y"}, {int_attribute("transB", 1)});
    list.push_back(
        make("GemmTransBOpset" + std::to_string(opset), model, {{"x", float_input({4, 64}, 1)}}, {"w"}));
  }
  {
    ModelBuilder model;
    model.input("x", kFloat, {32, 5}).output("y", kFloat, {48, 5});
    model.initializer(weight("w", {32, 48}, 5)).node("Gemm", {"w", "x"}, {"y"}, {int_attribute("transA", 1)});
    list.push_back(make("GemmTransAWeightOnTheLeft", model, {{"x", float_input({32, 5}, 1)}}, {"w"}));
  }
  {
    ModelBuilder model;
    model.input("x", kFloat, {4, 48}).output("y", kFloat, {4, 48}).output("z", kFloat, {4, 48});
    model.initializer(weight("w", {48, 48}));
    model.node("Gemm", {"x", "w"}, {"y"}).node("Gemm", {"x", "w"}, {"z"}, {int_attribute("transB", 1)});
    list.push_back(make("GemmsThatShareB", model, {{"x", float_input({4, 48}, 1)}}, {"w"}));
  }
  list.push_back(conv("Conv", "Conv", {1, 8, 9, 9}, {16, 8, 3, 3}, {1, 16, 7, 7}, 1, 16));
  list.push_back(conv("ConvGroups", "Conv", {1, 16, 9, 9}, {16, 8, 3, 3}, {1, 16, 7, 7}, 2, 16));
  list.push_back(conv("ConvDepthwise", "Conv", {1, 64, 9, 9}, {64, 1, 5, 5}, {1, 64, 5, 5}, 64, 64));
  list.push_back(conv("Conv1d", "Conv", {1, 16, 20}, {24, 16, 3}, {1, 24, 18}, 1, 24));
  list.push_back(conv("ConvTranspose", "ConvTranspose", {1, 16, 6, 6}, {16, 8, 3, 3}, {1, 8, 8, 8}, 1, 8));
  list.push_back(
      conv("ConvTransposeGroups", "ConvTranspose", {1, 16, 6, 6}, {16, 8, 3, 3}, {1, 16, 8, 8}, 2, 16));
  list.push_back(recurrent("Lstm", "LSTM", 4, "forward", 0));
  list.push_back(recurrent("LstmBidirectional", "LSTM", 4, "bidirectional", 0));
  list.push_back(recurrent("LstmReverse", "LSTM", 4, "reverse", 0));
  list.push_back(recurrent("Gru", "GRU", 3, "forward", 0));
  list.push_back(recurrent("GruBidirectional", "GRU", 3, "bidirectional", 0));
  list.push_back(recurrent("Rnn", "RNN", 1, "bidirectional", 0));
  {
    // An LSTM without a bias but with an initial state: an empty name in between.
    ModelBuilder model;
    model.input("x", kFloat, {5, 2, 20}).input("h", kFloat, {1, 2, 24}).output("y", kFloat, {5, 1, 2, 24});
    model.initializer(weight("w", {1, 96, 20}, 1)).initializer(weight("r", {1, 96, 24}, 2));
    model.node("LSTM", {"x", "w", "r", "", "", "h"}, {"y"}, {int_attribute("hidden_size", 24)});
    list.push_back(make("LstmWithAbsentInputs", model,
                        {{"x", float_input({5, 2, 20}, 1)}, {"h", float_input({1, 2, 24}, 2)}}, {"w", "r"}));
    // ONNX Runtime's LSTM implements layout 0 only: the attribute must survive, the model cannot be run.
    StorageCase layout = recurrent("LstmLayout", "LSTM", 4, "bidirectional", 1);
    layout.refused_by_runtime = "layout";
    list.push_back(layout);
  }
  return list;
}

std::vector<StorageCase> scope_models() {
  std::vector<StorageCase> list;
  const std::vector<runtime::NamedTensor> x = {{"x", float_input({4, 64}, 1)}};
  {
    ModelBuilder model;
    model.input("x", kFloat, {4, 64}).output("y", kFloat, {4, 48});
    model.node("Constant", {}, {"w"}, {tensor_attribute("value", weight("", {64, 48}))})
        .node("MatMul", {"x", "w"}, {"y"});
    list.push_back(make("ConstantNode", model, x, {"w"}));
  }
  for (const bool condition : {true, false}) {
    const std::string name = condition ? "Then" : "Else";
    const std::vector<runtime::NamedTensor> data = {{"c", bool_input(condition)}, x[0]};
    list.push_back(
        make("SameNameInBothBranches" + name, if_model(branch("a", 1), branch("b", 2)), data, {"w"}));
    GraphBuilder captures;
    captures.output("b", kFloat, {4, 48}).node("MatMul", {"x", "outer"}, {"b"});
    ModelBuilder model = if_model(branch("a", 1), captures);
    model.initializer(weight("outer", {64, 48}, 3));
    list.push_back(make("CapturedFromOutside" + name, model, data, {"w", "outer"}));
    GraphBuilder constant;
    constant.output("b", kFloat, {4, 48})
        .node("Constant", {}, {"k"}, {tensor_attribute("value", weight("k", {64, 48}, 4))});
    constant.node("MatMul", {"x", "k"}, {"b"});
    list.push_back(
        make("ConstantNodeInABranch" + name, if_model(branch("a", 1), constant), data, {"w", "k"}));
  }
  {
    // Used in the main graph and in both branches: stored once.
    GraphBuilder one, two;
    one.output("a", kFloat, {4, 48}).node("MatMul", {"x", "outer"}, {"a"});
    two.output("b", kFloat, {4, 48}).node("MatMul", {"n", "outer"}, {"b"});
    ModelBuilder model = if_model(one, two);
    model.initializer(weight("outer", {64, 48}, 3)).output("z", kFloat, {4, 48});
    ModelBuilder ordered;
    ordered.input("c", kBool, {})
        .input("x", kFloat, {4, 64})
        .output("y", kFloat, {4, 48})
        .output("z", kFloat, {4, 48});
    ordered.initializer(weight("outer", {64, 48}, 3))
        .node("Neg", {"x"}, {"n"})
        .node("MatMul", {"x", "outer"}, {"z"});
    ordered.node("If", {"c"}, {"y"},
                 {graph_attribute("then_branch", one.bytes()), graph_attribute("else_branch", two.bytes())});
    list.push_back(make("SharedWithBranches", ordered, {{"c", bool_input(false)}, x[0]}, {"outer"}));
  }
  {
    // If inside If.
    GraphBuilder inner = branch("a", 1), other = branch("b", 2), outer;
    outer.output("o", kFloat, {4, 48});
    outer.node(
        "If", {"c"}, {"o"},
        {graph_attribute("then_branch", inner.bytes()), graph_attribute("else_branch", other.bytes())});
    list.push_back(
        make("BranchInABranch", if_model(outer, branch("d", 3)), {{"c", bool_input(true)}, x[0]}, {"w"}));
  }
  const std::vector<runtime::NamedTensor> state = {{"x", float_input({4, 48}, 1)}};
  list.push_back(make("LoopBody", loop_model(weight("w", {48, 48}), ""), state, {"w"}));
  list.push_back(make("LoopCaptures", loop_model("", weight("w", {48, 48})), state, {"w"}));
  {
    ModelBuilder model;
    model.input("x", kFloat, {4, 48}).output("y", kFloat, {4, 48});
    model.initializer(weight("w1", {48, 48}, 1))
        .initializer(weight("w2", {48, 48}, 2))
        .initializer(weight("w3", {48, 48}, 3));
    model.node("MatMul", {"x", "w1"}, {"a"}, {}, "same")
        .node("MatMul", {"a", "w2"}, {"b"}, {}, "same")
        .node("MatMul", {"b", "w3"}, {"y"});
    list.push_back(make("DuplicateNodeNames", model, state, {"w1", "w2", "w3"}));
    list.back().refused_by_runtime = "node name";
  }
  {
    ModelBuilder model;
    model.input("x", kFloat, {4, 48}).output("y", kFloat, {4, 48});
    model.initializer(weight("w1", {48, 48}, 1)).initializer(weight("w2", {48, 48}, 2));
    model.node("MatMul", {"x", "w1"}, {"a"}).node("MatMul", {"a", "w2"}, {"y"});
    list.push_back(make("NoNodeNames", model, state, {"w1", "w2"}));
  }
  {
    // Values with the names that Ounce would choose.
    ModelBuilder model;
    model.input("v0", kFloat, {4, 48}).output("q1", kFloat, {4, 48});
    model.initializer(weight("q0", {48, 48}, 1)).initializer(weight("v1", {48, 48}, 2));
    model.node("MatMul", {"v0", "q0"}, {"v2"}, {}, "q2").node("MatMul", {"v2", "v1"}, {"q1"}, {}, "v0");
    list.push_back(make("NamesLikeOurOwn", model, {{"v0", float_input({4, 48}, 1)}}, {"q0", "v1"}));
  }
  {
    // A model-local function with its weight in a Constant node, and one whose weight is an argument.
    const std::string imports = field(9, field(1, std::string()) + field(2, std::int64_t{17}));
    const std::string own =
        field(1, std::string("own")) + field(4, std::string("a")) + field(5, std::string("b")) +
        field(7, node("Constant", {}, {"w"}, {tensor_attribute("value", weight("w", {64, 48}))})) +
        field(7, node("MatMul", {"a", "w"}, {"b"})) + imports + field(10, std::string("local"));
    ModelBuilder model;
    model.input("x", kFloat, {4, 64}).output("y", kFloat, {4, 48});
    model.add(1, node("own", {"x"}, {"y"}, {}, "call", "local"));
    model.add_to_model(8, field(1, std::string("local")) + field(2, std::int64_t{1})).add_to_model(25, own);
    list.push_back(make("InsideAFunction", model, x, {"w"}));

    ModelBuilder twice;
    twice.input("x", kFloat, {4, 64})
        .output("y", kFloat, {4, 48})
        .output("z", kFloat, {4, 48})
        .initializer(weight("w", {64, 48}, 2));
    twice.node("Neg", {"x"}, {"n"}).node("MatMul", {"n", "w"}, {"z"});
    twice.add(1, node("own", {"x"}, {"a"}, {}, "", "local"))
        .add(1, node("own", {"n"}, {"b"}, {}, "", "local"))
        .add(1, node("Sub", {"a", "b"}, {"y"}));
    twice.add_to_model(8, field(1, std::string("local")) + field(2, std::int64_t{1})).add_to_model(25, own);
    list.push_back(make("FunctionCalledTwiceBesideAWeightOfTheSameName", twice, x, {"w"}));

    const std::string given = field(1, std::string("given")) + field(4, std::string("a")) +
                              field(4, std::string("k")) + field(5, std::string("b")) +
                              field(7, node("MatMul", {"a", "k"}, {"b"})) + imports +
                              field(10, std::string("local"));
    ModelBuilder passed;
    passed.input("x", kFloat, {4, 64})
        .output("y", kFloat, {4, 48})
        .output("z", kFloat, {4, 48})
        .initializer(weight("w", {64, 48}, 2));
    passed.node("MatMul", {"x", "w"}, {"z"}).add(1, node("given", {"x", "w"}, {"y"}, {}, "", "local"));
    passed.add_to_model(8, field(1, std::string("local")) + field(2, std::int64_t{1}))
        .add_to_model(25, given);
    list.push_back(make("GivenToAFunction", passed, x, {"w"}));
  }
  {
    StorageCase external;
    ModelBuilder model;
    model.input("x", kFloat, {4, 64}).output("y", kFloat, {4, 48});
    model.initializer(external_tensor("w", {64, 48}, "weights.bin", "64", "12288"))
        .node("MatMul", {"x", "w"}, {"y"});
    external = make("ExternalData", model, x, {"w"});
    external.files["weights.bin"] =
        std::string(64, '\x7f') + raw_floats(weights_like(std::size_t{64} * 48, 1));
    list.push_back(external);
  }
  {
    // The weight passes through ops that only move values.
    ModelBuilder model;
    model.input("x", kFloat, {4, 64}).output("y", kFloat, {4, 48});
    model.initializer(weight("w", {48, 64}))
        .node("Transpose", {"w"}, {"t"}, {ints_attribute("perm", {1, 0})})
        .node("MatMul", {"x", "t"}, {"y"});
    list.push_back(make("Transposed", model, x, {"w"}));
  }
  {
    ModelBuilder model;
    model.input("x", kFloat, {4, 64}).output("y", kFloat, {4, 48});
    model.initializer(weight("w", {48, 64}))
        .initializer(tensor("shape", kInt64, {2}, int64_input({2}, {64, 48}).bytes));
    model.node("Reshape", {"w", "shape"}, {"t"})
        .node("Identity", {"t"}, {"u"})
        .node("MatMul", {"x", "u"}, {"y"});
    list.push_back(make("Reshaped", model, x, {"w"}));
  }
  {
    // The gates of an LSTM's weights are sliced and concatenated in another order, as exporters do it.
    ModelBuilder model;
    model.input("x", kFloat, {4, 64}).output("y", kFloat, {1, 4, 48});
    model.initializer(weight("w", {64, 48}))
        .initializer(tensor("zero", kInt64, {1}, int64_input({1}, {0}).bytes));
    model.initializer(tensor("half", kInt64, {1}, int64_input({1}, {24}).bytes))
        .initializer(tensor("end", kInt64, {1}, int64_input({1}, {48}).bytes));
    model.initializer(tensor("one", kInt64, {1}, int64_input({1}, {1}).bytes));
    model.node("Slice", {"w", "zero", "half", "one"}, {"a"})
        .node("Slice", {"w", "half", "end", "one"}, {"b"});
    model.node("Concat", {"b", "a"}, {"c"}, {int_attribute("axis", 1)})
        .node("Unsqueeze", {"c", "zero"}, {"u"})
        .node("MatMul", {"x", "u"}, {"y"});
    list.push_back(make("SlicedAndConcatenated", model, x, {"w"}));
  }
  {
    // A weight of a branch, used in a nested branch.
    GraphBuilder inner, other, outer;
    inner.output("a", kFloat, {4, 48}).node("MatMul", {"x", "w"}, {"a"});
    other.output("b", kFloat, {4, 48}).node("MatMul", {"x", "w"}, {"m"}).node("Neg", {"m"}, {"b"});
    outer.output("o", kFloat, {4, 48}).initializer(weight("w", {64, 48}, 1));
    outer.node(
        "If", {"c"}, {"o"},
        {graph_attribute("then_branch", inner.bytes()), graph_attribute("else_branch", other.bytes())});
    list.push_back(
        make("CapturedFromABranch", if_model(outer, branch("d", 3)), {{"c", bool_input(true)}, x[0]}, {"w"}));
  }
  {
    // Scan: one row at a time.
    GraphBuilder body;
    body.input("row", kFloat, {1, 64})
        .output("out", kFloat, {1, 48})
        .initializer(weight("w", {64, 48}, 1))
        .node("MatMul", {"row", "w"}, {"out"});
    ModelBuilder model;
    model.input("x", kFloat, {4, 1, 64}).output("y", kFloat, {4, 1, 48});
    model.node("Scan", {"x"}, {"y"},
               {graph_attribute("body", body.bytes()), int_attribute("num_scan_inputs", 1)});
    list.push_back(make("ScanBody", model, {{"x", float_input({4, 1, 64}, 1)}}, {"w"}));
  }
  {
    // Also listed in value_info, as shape inference leaves it.
    ModelBuilder model = matmul_model();
    model.add(13, value_info("w", kFloat, {64, 48}));
    list.push_back(make("ListedInValueInfo", model, x, {"w"}));
  }
  return list;
}

std::vector<StorageCase> lookup_models() {
  std::vector<StorageCase> list;
  list.push_back(lookup("GatherIndices1d", {64, 32}, 0, {3}, {5, 63, 0}));
  list.push_back(lookup("GatherScalarIndex", {64, 32}, 0, {}, {7}));
  list.push_back(lookup("GatherIndices3d", {64, 32}, 0, {2, 1, 2}, {1, 2, 3, 60}));
  list.push_back(lookup("GatherNegativeIndices", {64, 32}, 0, {3}, {-1, -64, 5}));
  list.push_back(lookup("GatherAxis1", {32, 64}, 1, {3}, {5, 63, -1}));
  list.push_back(lookup("GatherTable3d", {16, 8, 16}, 0, {2}, {15, -3}));
  for (const std::int64_t opset : {17, 21}) {
    // Tied weights: a lookup table at the start, a matrix product at the end.
    ModelBuilder model(opset, opset == 17 ? 8 : 10);
    model.input("i", kInt64, {1, 3}).output("y", kFloat, {1, 3, 64});
    model.initializer(weight("table", {64, 32})).node("Gather", {"table", "i"}, {"e"});
    model.node("Transpose", {"table"}, {"t"}, {ints_attribute("perm", {1, 0})})
        .node("MatMul", {"e", "t"}, {"y"});
    list.push_back(make("TiedWeightsOpset" + std::to_string(opset), model,
                        {{"i", int64_input({1, 3}, {5, 63, 0})}}, {"table"}));
  }
  {
    ModelBuilder model;
    model.input("i", kInt64, {3}).output("y", kFloat, {3, 32}).output("z", kFloat, {3, 32});
    model.initializer(weight("table", {64, 32}))
        .node("Gather", {"table", "i"}, {"y"})
        .node("Neg", {"i"}, {"j"})
        .node("Gather", {"table", "j"}, {"z"});
    list.push_back(make("TwoLookupsInOneTable", model, {{"i", int64_input({3}, {5, 63, 0})}}, {"table"}));
  }
  {
    // The table is in the main graph, the lookup in a branch.
    GraphBuilder one, two;
    one.output("a", kFloat, {3, 32}).node("Gather", {"table", "i"}, {"a"});
    two.output("b", kFloat, {3, 32}).node("Gather", {"table", "i"}, {"r"}).node("Neg", {"r"}, {"b"});
    ModelBuilder model;
    model.input("c", kBool, {})
        .input("i", kInt64, {3})
        .output("y", kFloat, {3, 32})
        .initializer(weight("table", {64, 32}));
    model.node("If", {"c"}, {"y"},
               {graph_attribute("then_branch", one.bytes()), graph_attribute("else_branch", two.bytes())});
    list.push_back(make("LookupInABranch", model,
                        {{"c", bool_input(true)}, {"i", int64_input({3}, {5, 63, 0})}}, {"table"}));
  }
  return list;
}

std::vector<StorageCase> number_models() {
  std::vector<StorageCase> list;
  using Size = std::size_t;
  list.push_back(
      changed("ZeroChannels", [](Size, Size column, float value) { return column % 3 == 0 ? 0.F : value; }));
  list.push_back(changed("ZeroRows", [](Size row, Size, float value) { return row % 2 == 0 ? 0.F : value; }));
  list.push_back(changed("OneValue", [](Size, Size, float) { return 0.3F; }));
  list.push_back(changed("OneNegativeValueForEachChannel",
                         [](Size, Size column, float) { return -0.01F * static_cast<float>(column + 1); }));
  list.push_back(changed("AllPositive", [](Size, Size, float value) { return 1 + value; }));
  list.push_back(changed("ChannelsOfVeryDifferentSizes", [](Size, Size column, float value) {
    return std::ldexp(value, static_cast<int>(column % 8));
  }));
  list.push_back(changed("Huge", [](Size, Size, float value) { return value * 1e30F; }));
  list.back().keeps_halves = true;
  list.push_back(changed("Small", [](Size, Size, float value) { return value * 1e-7F; }));
  list.back().keeps_halves = true;
  list.push_back(changed("Tiny", [](Size, Size, float value) { return value * 1e-30F; }));
  list.back().keeps_halves = true;
  return list;
}

std::vector<StorageCase> version_models() {
  std::vector<StorageCase> list;
  list.push_back(at_opset(7, 4));
  list.push_back(at_opset(9, 4));
  list.push_back(at_opset(11, 6));
  list.push_back(at_opset(13, 7));
  list.push_back(at_opset(17, 8));
  list.push_back(at_opset(21, 10));
  {
    // Before IR version 4 every initializer is also listed as an input, but is a constant.
    ModelBuilder model(8, 3);
    model.input("x", kFloat, {4, 64}).input("w", kFloat, {64, 48}).output("y", kFloat, {4, 48});
    model.initializer(weight("w", {64, 48})).node("MatMul", {"x", "w"}, {"y"});
    list.push_back(make("InitializersAsInputsInIr3", model, {{"x", float_input({4, 64}, 1)}}, {"w"}));
  }
  list.push_back(typed_matmul("Float16", kFloat16, to_half));
  list.back().is_half = true;
  list.push_back(typed_matmul("Bfloat16", kBfloat16, to_bfloat16));
  list.back().is_half = true;
  list.back().refused_by_runtime = "Could not find an implementation for MatMul";
  list.push_back(typed_lookup("Bfloat16Lookup", kBfloat16, to_bfloat16));
  list.back().is_half = true;
  list.push_back(typed_lookup("Float16Lookup", kFloat16, to_half));
  list.back().is_half = true;
  list.push_back(typed_lookup("DoubleLookup", kDouble, to_double));
  list.push_back(typed_matmul("Double", kDouble, to_double));
  return list;
}

}  // namespace ounce::test
