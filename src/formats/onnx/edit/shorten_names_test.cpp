#include "formats/onnx/edit/names.h"

#include <gmock/gmock.h>

#include <set>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::field;
using ounce::test::float_tensor;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kBool;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::tensor;
using ounce::test::value_info;
using test::expect_same_outputs;
using test::text_of;
using testing::ElementsAre;

constexpr std::uint32_t kNode = 1, kValueInfo = 13, kAnnotation = 14, kSparse = 15;  // of a graph
constexpr std::uint32_t kImport = 8, kTraining = 20, kFunction = 25;                 // of a model

ModelBuilder of_ir(std::int64_t ir_version = 8) {
  ModelBuilder model(17, ir_version);
  model.input("x", kFloat, {2}).output("y", kFloat, {2});
  return model;
}

// Shortens the names, checks that outputs do not change, and returns the text of the model.
std::string shortened(const ModelBuilder& model) {
  onnx::Model changed = read(model.bytes());
  EXPECT_GT(shorten_names(changed).saved, 0U);
  expect_same_outputs(model.bytes(), changed, 0);
  return text_of(changed);
}

void expect_left_alone(const std::string& bytes) {
  onnx::Model model = read(bytes);
  EXPECT_EQ(shorten_names(model).saved, 0U);
  EXPECT_FALSE(model.proto.is_edited());
}

std::vector<std::string> names_of(const std::vector<onnx::Kept<onnx::ValueInfo>>& infos) {
  std::vector<std::string> names;
  for (const auto& info : infos) names.emplace_back(info->name);
  return names;
}

TEST(ShortenNames, RenamesInnerValuesAndKeepsOuterOnes) {
  ModelBuilder model = of_ir();
  model.initializer("layer.weight", {2}, {3, 4}).node("Mul", {"x", "layer.weight"}, {"layer/product"});
  model.node("Neg", {"layer/product"}, {"y"});
  EXPECT_EQ(shortened(model), "a = float32[2]\nMul(x, a) -> b\nNeg(b) -> y\n");
}

TEST(ShortenNames, GivesTheShortestToTheMostUsedAndTakesNoNameTwice) {
  ModelBuilder model;
  model.input("a", kFloat, {2}).output("c", kFloat, {2});
  model.node("Neg", {"a"}, {"rare"}).node("Abs", {"rare"}, {"often"});
  model.node("Sum", {"often", "often", "often"}, {"c"});
  EXPECT_EQ(shortened(model), "Neg(a) -> d\nAbs(d) -> b\nSum(b, b, b) -> c\n");
}

TEST(ShortenNames, SaysHowMuchItSaves) {
  ModelBuilder model = of_ir();
  model.node("Neg", {"x"}, {"twelve_bytes"}, {}, "four").node("Abs", {"twelve_bytes"}, {"y"}, {}, "four");
  model.add(kValueInfo, value_info("six_at", kFloat, {2}));
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(shorten_names(changed).saved, 2U * 11 + 2 * 4 + 6);
}

TEST(ShortenNames, TakesNamesAndNotesOffNodes) {
  const auto noted = [](const std::string& op, const std::string& from, const std::string& to) {
    return ounce::test::node(op, {from}, {to}, {}, "same name") + field(6, std::string("a stack trace"));
  };
  ModelBuilder model = of_ir();
  model.add(kNode, noted("Neg", "x", "h")).add(kNode, noted("Abs", "h", "k")).node("Relu", {"k"}, {"y"});
  onnx::Model changed = read(model.bytes());
  EXPECT_GT(shorten_names(changed).saved, 0U);
  for (const auto& node : changed.proto->graph->nodes) {
    EXPECT_EQ(node->name, "");
    EXPECT_TRUE(node->carried.empty());
  }
  graph::validate(changed);  // not run before: the runtime rejects duplicate node names
}

TEST(ShortenNames, TakesDeclaredTypesAlong) {
  ModelBuilder model = of_ir();
  model.node("Neg", {"x"}, {"negative"}).node("Abs", {"negative"}, {"y"});
  for (const char* name : {"nobody", "negative", "y"}) model.add(kValueInfo, value_info(name, kFloat, {2}));
  onnx::Model changed = read(model.bytes());
  EXPECT_GT(shorten_names(changed).saved, 0U);
  EXPECT_THAT(names_of(changed.proto->graph->value_infos), ElementsAre("a", "y"));
  expect_same_outputs(model.bytes(), changed, 0);
}

TEST(ShortenNames, FindsNothingMoreTheSecondTime) {
  ModelBuilder model = of_ir();
  model.node("Neg", {"x"}, {"a"}).node("Abs", {"a"}, {"y"});
  expect_left_alone(model.bytes());
}

TEST(ShortenNames, TellsValuesOfOneNameInTwoBranchesApart) {
  const auto branch = [](const std::string& op) {
    GraphBuilder graph;
    graph.output("result", kFloat, {2}).initializer("own", {2}, {1, 2});
    graph.node(op, {"outer", "own"}, {"inner"}).node("Mul", {"inner", "outer"}, {"result"});
    graph.add(kValueInfo, value_info("inner", kFloat, {2}));
    return graph.bytes();
  };
  ModelBuilder model = of_ir();
  model.input("which", kBool, {}).node("Relu", {"x"}, {"outer"});
  model.node("If", {"which"}, {"y"},
             {graph_attribute("then_branch", branch("Add")), graph_attribute("else_branch", branch("Sub"))});
  EXPECT_EQ(shortened(model),
            "Relu(x) -> a\n"
            "If(which) -> y\n"
            "  then_branch:\n    d = float32[2]\n    Add(a, d) -> b\n    Mul(b, a) -> e\n"
            "  else_branch:\n    f = float32[2]\n    Sub(a, f) -> c\n    Mul(c, a) -> g\n");
}

TEST(ShortenNames, HandsOnOuterValuesAsOutputsOfBranches) {
  GraphBuilder handed, made;
  handed.output("outer", kFloat, {2});
  made.output("made", kFloat, {2}).node("Neg", {"x"}, {"made"});
  ModelBuilder model = of_ir();
  model.input("which", kBool, {}).node("Relu", {"x"}, {"outer"});
  model.node("If", {"which"}, {"y"},
             {graph_attribute("then_branch", handed.bytes()), graph_attribute("else_branch", made.bytes())});
  onnx::Model changed = read(model.bytes());
  EXPECT_GT(shorten_names(changed).saved, 0U);
  const auto& branch = **changed.proto->graph->nodes[1]->attributes[0]->graphs[0];
  EXPECT_THAT(names_of(branch.outputs), ElementsAre("a"));
  graph::validate(changed);
}

TEST(ShortenNames, RenamesTheFormalsOfLoops) {
  GraphBuilder body;
  body.input("round", kInt64, {}).input("go_on", kBool, {}).input("state", kFloat, {2});
  body.output("still", kBool, {}).output("next", kFloat, {2});
  body.node("Identity", {"go_on"}, {"still"}).node("Add", {"state", "captured"}, {"next"});
  ModelBuilder model = of_ir();
  model.initializer(tensor("times", kInt64, {}, std::string("\3\0\0\0\0\0\0\0", 8)));
  model.node("Neg", {"x"}, {"captured"});
  model.node("Loop", {"times", "", "x"}, {"y"}, {graph_attribute("body", body.bytes())});
  EXPECT_EQ(shortened(model),
            "a = int64[]\n"
            "Neg(x) -> b\n"
            "Loop(a, , x) -> y\n"
            "  body:\n    Identity(c) -> e\n    Add(d, b) -> f\n");
}

TEST(ShortenNames, RenamesTheFormalsOfScans) {
  GraphBuilder body;
  body.input("state", kFloat, {}).input("element", kFloat, {});
  body.output("sum", kFloat, {}).output("so_far", kFloat, {});
  body.node("Add", {"state", "element"}, {"sum"}).node("Identity", {"sum"}, {"so_far"});
  ModelBuilder model = of_ir();
  model.initializer("start", {}, {0});
  model.node("Scan", {"start", "x"}, {"end", "y"},
             {graph_attribute("body", body.bytes()), int_attribute("num_scan_inputs", 1)});
  EXPECT_EQ(shortened(model),
            "b = float32[]\n"
            "Scan(b, x){num_scan_inputs=1} -> f, y\n"
            "  body:\n    Add(c, d) -> a\n    Identity(a) -> e\n");
}

std::string function(const std::string& more = {}) {
  const std::string imports = field(1, std::string()) + field(2, std::int64_t{17});
  return field(1, std::string("Double")) + field(10, std::string("own")) + field(4, std::string("operand")) +
         field(5, std::string("twice")) + field(9, imports) + more +
         field(7, ounce::test::node("Add", {"operand", "operand"}, {"sum"}, {}, "node")) +
         field(7, ounce::test::node("Relu", {"sum"}, {"twice"}));
}

ModelBuilder calls_of(const std::string& callee) {
  ModelBuilder model = of_ir();
  model.add_to_model(kImport, field(1, std::string("own")) + field(2, std::int64_t{1}));
  model.add_to_model(kFunction, callee);
  model.add(kNode, ounce::test::node("Double", {"x"}, {"sum"}, {}, {}, "own"));
  model.add(kNode, ounce::test::node("Double", {"sum"}, {"y"}, {}, {}, "own"));
  return model;
}

TEST(ShortenNames, RenamesInsideOfFunctions) {
  EXPECT_EQ(shortened(calls_of(function())),
            "Double(x) -> b\nDouble(b) -> y\nfunction Double:\n  Add(a, a) -> c\n  Relu(c) -> d\n");
}

TEST(ShortenNames, KeepsInputsThatHaveDefaults) {
  ModelBuilder model = of_ir();
  model.input("default", kFloat, {2}).initializer("default", {2}, {3, 4}).node("Neg", {"x"}, {"negative"});
  model.node("Mul", {"negative", "default"}, {"y"});
  EXPECT_EQ(shortened(model), "default = float32[2]\nNeg(x) -> a\nMul(a, default) -> y\n");
}

// Before IR 4 every initializer is listed as an input, and none can be fed.
TEST(ShortenNames, RenamesListedInitializersBeforeIr4) {
  ModelBuilder model(7, 3);
  model.input("x", kFloat, {2}).output("y", kFloat, {2});
  model.input("weight", kFloat, {2}).initializer("weight", {2}, {3, 4}).node("Mul", {"x", "weight"}, {"y"});
  EXPECT_EQ(shortened(model), "a = float32[2]\nMul(x, a) -> y\n");
}

TEST(ShortenNames, RenamesSparseInitializers) {
  ModelBuilder model = of_ir();
  model.add(kSparse, field(1, float_tensor("sparse", {1}, {5})) + field(2, test::ints_tensor("", {1})) +
                         field(3, std::int64_t{2}));
  model.node("Mul", {"x", "sparse"}, {"y"});
  EXPECT_EQ(shortened(model), "Mul(x, a) -> y\n");
}

TEST(ShortenNames, LeavesModelsThatNameValuesElsewhere) {
  ModelBuilder annotated = of_ir();
  annotated.node("Neg", {"x"}, {"inner"}).node("Abs", {"inner"}, {"y"});
  ModelBuilder trained = annotated, placed = annotated;
  annotated.add(kAnnotation, field(1, std::string("inner")));
  expect_left_alone(annotated.bytes());
  trained.add_to_model(kTraining, "");
  expect_left_alone(trained.bytes());
  const std::string on_device = field(10, field(1, std::string("two devices")));
  placed.add(kNode, ounce::test::node("Neg", {"x"}, {"unused"}) + on_device);
  expect_left_alone(placed.bytes());
  expect_left_alone(calls_of(function(field(12, value_info("sum", kFloat, {2})))).bytes());
}

TEST(ShortenNames, NamesManyValues) {
  constexpr int kCount = 60'000;  // many times more than there are names of one or two characters
  ModelBuilder model = of_ir();
  std::string last = "x";
  for (int i = 0; i < kCount; ++i) {
    const std::string next = i + 1 < kCount ? "a_long_name_" + std::to_string(i) : "y";
    model.node("Neg", {last}, {next});
    last = next;
  }
  onnx::Model changed = read(model.bytes());
  EXPECT_GT(shorten_names(changed).saved, 0U);
  graph::validate(changed);  // no name is defined twice
  std::size_t longest = 0;
  std::set<char> first;
  for (const auto& node : changed.proto->graph->nodes) {
    longest = std::max(longest, node->outputs[0].size());
    first.insert(node->outputs[0][0]);
  }
  EXPECT_EQ(longest, 3U);
  EXPECT_EQ(first.size(), 52U);
}

}  // namespace
}  // namespace ounce::passes
