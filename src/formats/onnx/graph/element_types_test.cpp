#include "formats/onnx/graph/shapes.h"

#include <gtest/gtest.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"

namespace ounce::graph {
namespace {

using ounce::test::field;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kBool;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using ounce::test::tensor;

constexpr int kHalf = 10;

ElementType type_of(const GraphBuilder& model, const std::string& name, std::size_t body = 0) {
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const Index index = validate(read);
  return ElementTypes(read, index).type(body, name);
}

TEST(ElementTypes, GoThroughOpsInBothDirections) {
  ModelBuilder model;
  model.initializer(tensor("w", kHalf, {1, 1}, "\1\1")).add(11, field(1, std::string("x")));
  model.node("Reshape", {"x", "dims"}, {"r"}).node("MatMul", {"r", "w"}, {"m"}).node("Relu", {"m"}, {"y"});
  model.input("dims", kInt64, {2});
  for (const char* name : {"x", "r", "m", "y"})
    EXPECT_EQ(type_of(model, name), ElementType::kFloat16) << name;
  EXPECT_EQ(type_of(model, "dims"), ElementType::kInt64);
}

TEST(ElementTypes, ChangeWhereANodeSaysSo) {
  ModelBuilder model;
  model.input("x", kFloat, {1}).node("Cast", {"x"}, {"c"}, {int_attribute("to", kHalf)});
  model.node("Relu", {"c"}, {"r"}).node("Shape", {"r"}, {"s"}).node("Relu", {"s"}, {"t"});
  model.node("ConstantOfShape", {"s"}, {"zeros"});
  EXPECT_EQ(type_of(model, "r"), ElementType::kFloat16);
  EXPECT_EQ(type_of(model, "t"), ElementType::kInt64);
  EXPECT_EQ(type_of(model, "zeros"), ElementType::kFloat);
}

TEST(ElementTypes, KeepApartWhatOpsKeepApart) {
  ModelBuilder model;
  model.input("table", kFloat, {4, 4}).input("which", kBool, {4}).add(11, field(1, std::string("rows")));
  model.node("Gather", {"table", "rows"}, {"g"}).node("Where", {"which", "g", "g"}, {"y"});
  model.node("LSTM", {"g", "u", "v", "b", "lengths"}, {"l"});
  for (const char* name : {"u", "v", "b", "lengths"}) model.add(11, field(1, std::string(name)));
  EXPECT_EQ(type_of(model, "y"), ElementType::kFloat);
  EXPECT_EQ(type_of(model, "rows"), ElementType::kUndefined);
  EXPECT_EQ(type_of(model, "b"), ElementType::kFloat);
  EXPECT_EQ(type_of(model, "l"), ElementType::kFloat);
  EXPECT_EQ(type_of(model, "lengths"), ElementType::kInt32);
}

TEST(ElementTypes, GoThroughBranchesAndLoops) {
  GraphBuilder branch;
  branch.add(12, field(1, std::string("e"))).node("Relu", {"x"}, {"e"});
  GraphBuilder body;
  for (const char* name : {"i", "go_on", "state"}) body.add(11, field(1, std::string(name)));
  for (const char* name : {"stays", "next", "each"}) body.add(12, field(1, std::string(name)));
  body.node("Identity", {"go_on"}, {"stays"}).node("Relu", {"state"}, {"next"}).node("Relu", {"y"}, {"each"});
  ModelBuilder model;
  model.input("x", kFloat, {1}).input("which", kBool, {}).input("times", kInt64, {}).input("k", kInt64, {1});
  model.node(
      "If", {"which"}, {"y"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  model.node("Loop", {"times", "which", "k"}, {"last", "all"}, {graph_attribute("body", body.bytes())});
  EXPECT_EQ(type_of(model, "e", 1), ElementType::kFloat);
  EXPECT_EQ(type_of(model, "y"), ElementType::kFloat);
  EXPECT_EQ(type_of(model, "next", 3), ElementType::kInt64);
  EXPECT_EQ(type_of(model, "last"), ElementType::kInt64);
  EXPECT_EQ(type_of(model, "all"), ElementType::kFloat);
  EXPECT_EQ(type_of(model, "nobody"), ElementType::kUndefined);
}

TEST(ElementTypes, BelieveNothingThatIsContradicted) {
  ModelBuilder model;
  model.input("x", kFloat, {1}).input("k", kInt64, {1}).node("Add", {"x", "k"}, {"y"});
  for (const char* name : {"x", "k", "y"}) EXPECT_EQ(type_of(model, name), ElementType::kUndefined) << name;
}

TEST(ElementTypes, OfInitializersAreTheirOwn) {
  ModelBuilder model;
  model.input("x", kFloat, {1}).initializer("w", {1}, {1}).node("Add", {"x", "w"}, {"y"});
  model.add(13, ounce::test::value_info("w", kInt64, {1}));
  for (const char* name : {"x", "w", "y"}) EXPECT_EQ(type_of(model, name), ElementType::kFloat) << name;
}

// A function called with two types: the types of the calls do not mix.
TEST(ElementTypes, CallersOfAFunctionDoNotMeet) {
  ModelBuilder model;
  model.input("x", kFloat, {1}).input("k", kInt64, {1}).output("y", kFloat, {1});
  model.add(1, ounce::test::node("R", {"x"}, {"a"}, {}, "", "own"));
  model.add(1, ounce::test::node("R", {"k"}, {"b"}, {}, "", "own"));
  model.node("Relu", {"a"}, {"y"});
  const std::string import = field(2, std::int64_t{17});
  std::string function = field(1, std::string("R")) + field(4, std::string("i")) + field(5, std::string("o"));
  function +=
      field(7, ounce::test::node("Abs", {"i"}, {"o"})) + field(9, import) + field(10, std::string("own"));
  model.add_to_model(25, function).add_to_model(8, field(1, std::string("own")) + field(2, std::int64_t{1}));
  EXPECT_EQ(type_of(model, "x"), ElementType::kFloat);
  EXPECT_EQ(type_of(model, "k"), ElementType::kInt64);
  EXPECT_EQ(type_of(model, "a"), ElementType::kFloat);  // because the Relu after it returns one
  EXPECT_EQ(type_of(model, "b"), ElementType::kUndefined);
  EXPECT_EQ(type_of(model, "i", 1), ElementType::kUndefined);
}

}  // namespace
}  // namespace ounce::graph
