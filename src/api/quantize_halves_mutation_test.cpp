// Mutated models on their way to 16-bit floats: each is refused in one line, or becomes a model that
// graph::verify() accepts.
#include <gtest/gtest.h>
#include <ounce/error.h>

#include "base/random.h"
#include "graph/verify.h"
#include "onnx/reader.h"
#include "onnx/serializer.h"
#include "passes/half_graph.h"
#include "passes/integer_ports.h"
#include "passes/spell_constants.h"
#include "support/model_builder.h"
#include "support/mutated_model.h"

namespace ounce::make {
namespace {

using test::field;
using test::graph_attribute;
using test::GraphBuilder;
using test::int_attribute;
using test::kBool;
using test::kFloat;
using test::kInt64;
using test::ModelBuilder;
using test::mutated;
using test::ramp;

constexpr int kHalfMutations = 12000;

// Names of one letter, so that a changed byte often is another value of the model.
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

std::string with_branches() {
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

std::string with_functions() {
  const auto function = [](const char* name, const std::vector<std::string>& nodes) {
    std::string bytes = field(1, std::string(name)) + field(4, std::string("a")) + field(5, std::string("b"));
    for (const std::string& each : nodes) bytes += field(7, each);
    return bytes + field(9, field(2, std::int64_t{17})) +
           field(9, field(1, std::string("f")) + field(2, std::int64_t{1})) + field(10, std::string("f"));
  };
  ModelBuilder model = layers(17);
  model.add(1, test::node("p", {"h"}, {"i"}, {}, "", "f")).add(1, test::node("q", {"i"}, {"y"}, {}, "", "f"));
  model.add_to_model(25, function("p", {test::node("Relu", {"a"}, {"b"})}));
  model.add_to_model(
      25, function("q", {test::node("p", {"a"}, {"g"}, {}, "", "f"), test::node("Exp", {"g"}, {"b"})}));
  model.add_to_model(8, field(1, std::string("f")) + field(2, std::int64_t{1}));
  return model.bytes();
}

std::string with_fills(std::int64_t opset) {
  ModelBuilder model = layers(opset);
  model.node("ConstantOfShape", {"n"}, {"k"},
             {test::tensor_attribute("value", test::float_tensor("", {1}, {-3.4e38F}))});
  model.node("ConstantOfShape", {"n"}, {"l"})
      .node("Constant", {}, {"o"}, {test::tensor_attribute("value", test::float_tensor("", {}, {1e9F}))});
  model.node("Clip", {"h", "", "o"}, {"p"}).node("Sum", {"p", "k", "l"}, {"q"}).node("Softmax", {"q"}, {"y"});
  return model.bytes();
}

std::string text_of(const onnx::Model& model) {
  std::string all;
  const onnx::Serialized serialized = serialize(model, onnx::Placement::kKeep, {}, true);
  for (const auto& piece : serialized.model.pieces()) {
    if (const auto* copied = std::get_if<std::string>(&piece)) all += *copied;
    if (const auto* view = std::get_if<onnx::Bytes>(&piece)) all += *view;
  }
  return all;
}

// Throws Error for what is refused.
void convert_on_paper(const std::string& bytes, const Recipe& recipe, ThreadPool& pool) {
  onnx::Model prepared = onnx::read_model_from_memory(bytes, "model");
  graph::verify(prepared);
  passes::spell_constants(prepared);
  const std::string between = text_of(prepared);
  const onnx::Model source = onnx::read_model_from_memory(between, "prepared");
  const graph::Index index = graph::verify(source);
  observe::Ranges ranges;
  ranges.values["h"].add(ramp(16), 4, 1);
  const plan::Plan plan =
      plan::make_plan(source, index, recipe, pool, recipe.half.half_io ? &ranges : nullptr);
  onnx::Model model = onnx::read_model_from_memory(between, "again");
  passes::Editors editors(model, index);
  passes::make_half_graph(editors, source, index, plan);
  editors.finish();
  passes::declare_ports(model, plan.half.ports);
  graph::verify(model);
}

TEST(HalfMutation, AnyModelIsRefusedOrBecomesAModel) {
  Recipe recipes[3];
  for (Recipe& recipe : recipes) recipe.format = Format::kFp16;
  recipes[1].half.half_io = true;
  recipes[2].format = Format::kBf16;
  const std::vector<std::string> models = {with_branches(), with_functions(), with_fills(17), with_fills(9)};
  ThreadPool pool(1);
  for (const std::string& model : models) {
    for (const Recipe& recipe : recipes) EXPECT_NO_THROW(convert_on_paper(model, recipe, pool));
  }
  Random random(7);
  int sound = 0;
  for (int i = 0; i < kHalfMutations; ++i) {
    const std::string bytes = mutated(models[static_cast<std::size_t>(i) % models.size()], random);
    try {
      convert_on_paper(bytes, recipes[i % 3], pool);
      ++sound;
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << "mutation " << i << ": " << error.what();
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    }
  }
  EXPECT_GT(sound, kHalfMutations / 8);
}

}  // namespace
}  // namespace ounce::make
