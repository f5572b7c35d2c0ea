#include "fuzz/sample_networks.h"

#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::test {
namespace {

ModelBuilder layers(std::int64_t opset) {
  ModelBuilder model(opset, opset < 10 ? 3 : 8);
  model.input("x", kFloat, {4, 4}).output("y", kFloat, {4, 4}).output("z", kFloat, {4, 4});
  model.input("c", kBool, {})
      .input("n", kInt64, {2})
      .initializer("w", {4, 4}, ramp(16))
      .initializer("e", {}, {1e-8F});
  if (opset < 10) model.input("w", kFloat, {4, 4}).input("e", kFloat, {});
  model.node("MatMul", {"x", "w"}, {"h"}).node("Mul", {"h", "h"}, {"s"}).node("Add", {"s", "e"}, {"a"});
  model.node("Sqrt", {"a"}, {"r"}).node("Div", {"h", "r"}, {"d"}).node("Softmax", {"d"}, {"z"});
  return model;
}

}  // namespace

std::string integer_network(std::int64_t opset) {
  GraphBuilder branch;
  branch.initializer("bw", {4, 4}, ramp(16)).output("bo", kFloat, {1, 4}).node("MatMul", {"f", "bw"}, {"bo"});
  GraphBuilder other;
  other.output("oo", kFloat, {1, 4}).node("Identity", {"f"}, {"oo"});
  ModelBuilder model(opset);
  model.input("x", kFloat, {1, 4, 8}).output("y", kFloat, {1, 4}).output("z", kFloat, {1, 4});
  model.initializer("w1", {4, 4, 3}, ramp(48)).initializer("b1", {4}, ramp(4));
  model.initializer("w2", {4, 4}, ramp(16)).initializer("b2", {4}, ramp(4));
  model.initializer(tensor("c", 9, {}, std::string(1, '\1')));
  model.node("Conv", {"x", "w1", "b1"}, {"h"}).node("Relu", {"h"}, {"r"}).node("Conv", {"r", "w1"}, {"s"});
  model.node("BatchNormalization", {"s", "b1", "b2", "b2", "b1"}, {"n"}).node("LeakyRelu", {"n"}, {"l"});
  model.node("GlobalAveragePool", {"l"}, {"g"}).node("Flatten", {"g"}, {"f"});
  model.node("Gemm", {"f", "w2", "b2"}, {"y"}, {int_attribute("transB", 1)});
  model.node("If", {"c"}, {"z"},
             {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", other.bytes())});
  return model.bytes();
}

std::string network_with_branches() {
  GraphBuilder then_branch, else_branch, body;
  then_branch.initializer("k", {4, 4}, ramp(16))
      .output("t", kFloat, {4, 4})
      .node("MatMul", {"d", "k"}, {"t"});
  else_branch.output("u", kFloat, {4, 4})
      .node("Exp", {"z"}, {"v"})
      .node("Cast", {"v"}, {"u"}, {int_attribute("to", 1)});
  body.input("i", kInt64, {}).input("g", kBool, {}).input("l", kFloat, {4, 4}).output("g", kBool, {});
  body.output("m", kFloat, {4, 4}).output("l", kFloat, {4, 4}).node("Add", {"l", "w"}, {"m"});
  ModelBuilder model = layers(17);
  model.node("If", {"c"}, {"f"},
             {graph_attribute("then_branch", then_branch.bytes()),
              graph_attribute("else_branch", else_branch.bytes())});
  model.node("Loop", {"", "c", "f"}, {"y", "j"}, {graph_attribute("body", body.bytes())});
  return model.bytes();
}

std::string network_with_functions() {
  const auto function = [](const char* name, const std::vector<std::string>& nodes) {
    std::string bytes = field(1, std::string(name)) + field(4, std::string("a")) + field(5, std::string("b"));
    for (const std::string& each : nodes) bytes += field(7, each);
    return bytes + field(9, field(2, std::int64_t{17})) +
           field(9, field(1, std::string("f")) + field(2, std::int64_t{1})) + field(10, std::string("f"));
  };
  ModelBuilder model = layers(17);
  model.add(1, node("p", {"h"}, {"i"}, {}, "", "f")).add(1, node("q", {"i"}, {"y"}, {}, "", "f"));
  model.add_to_model(25, function("p", {node("Relu", {"a"}, {"b"})}));
  model.add_to_model(25, function("q", {node("p", {"a"}, {"g"}, {}, "", "f"), node("Exp", {"g"}, {"b"})}));
  model.add_to_model(8, field(1, std::string("f")) + field(2, std::int64_t{1}));
  return model.bytes();
}

std::string network_with_fills(std::int64_t opset) {
  ModelBuilder model = layers(opset);
  model.node("ConstantOfShape", {"n"}, {"k"}, {tensor_attribute("value", float_tensor("", {1}, {-3.4e38F}))});
  model.node("ConstantOfShape", {"n"}, {"l"})
      .node("Constant", {}, {"o"}, {tensor_attribute("value", float_tensor("", {}, {1e9F}))});
  model.node("Clip", opset < 11 ? Strings{"h"} : Strings{"h", "", "o"}, {"p"})
      .node("Sum", {"p", "k", "l"}, {"q"})
      .node("Softmax", {"q"}, {"y"});
  return model.bytes();
}

}  // namespace ounce::test
