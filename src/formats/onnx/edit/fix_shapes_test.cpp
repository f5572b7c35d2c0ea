#include "formats/onnx/edit/fix_shapes.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <optional>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::passes {
namespace {

using test::field;
using test::graph_attribute;
using test::GraphBuilder;
using test::ints_attribute;
using test::kFloat;
using test::ModelBuilder;
using ::testing::HasSubstr;

constexpr std::uint32_t kInput = 11, kOutput = 12, kIntermediate = 13;

// A dimension is a number, a parameter, or unknown ("?").
std::string value(const std::string& name, const std::vector<std::string>& dims) {
  std::string shape;
  for (const std::string& dim : dims) {
    const bool is_number = dim.find_first_not_of("0123456789") == std::string::npos;
    shape += field(1, dim == "?"    ? std::string()
                      : is_number ? field(1, static_cast<std::int64_t>(std::stoll(dim)))
                                  : field(2, dim));
  }
  return field(1, name) + field(2, field(1, field(1, std::int64_t{kFloat}) + field(2, shape)));
}

ModelBuilder conv_model() {
  ModelBuilder model;
  model.add(kInput, value("x", {"N", "3", "?", "W"})).add(kInput, value("z", {"N", "8"}));
  model.add(kOutput, value("y", {"N", "8", "h", "w"})).add(kOutput, value("s", {"N", "8"}));
  model.add(kIntermediate, value("c", {"N", "8", "h", "w"}));
  model.initializer("k", {8, 3, 3, 3}, test::ramp({8, 3, 3, 3}));
  model.node("Conv", {"x", "k"}, {"c"}, {ints_attribute("pads", {1, 1, 1, 1})});
  model.node("Relu", {"c"}, {"y"}).node("Sigmoid", {"z"}, {"s"});
  return model;
}

onnx::Model read(const ModelBuilder& builder) {
  return onnx::read_model_from_memory(builder.bytes(), "model");
}

std::string shape_of(const onnx::Kept<onnx::ValueInfo>& info) {
  return onnx::describe(onnx::read_type(info->type));
}

std::string message_of(const std::map<std::string, std::int64_t>& lengths) {
  onnx::Model model = read(conv_model());
  try {
    fix_shapes(model, lengths);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    return error.what();
  }
  return "no error";
}

TEST(FixShapes, FixesNamedAndUnnamedAxesEverywhere) {
  onnx::Model model = read(conv_model());
  fix_shapes(model, {{"N", 1}, {"x:2", 32}, {"W", 48}});
  graph::validate(model);
  const onnx::Graph& graph = *model.proto->graph;
  EXPECT_EQ(shape_of(graph.inputs[0]), "float32[1,3,32,48]");
  EXPECT_EQ(shape_of(graph.inputs[1]), "float32[1,8]");
  // "h" and "w" are no axes of an input; they follow from the Conv.
  EXPECT_EQ(shape_of(graph.outputs[0]), "float32[1,8,32,48]");
  EXPECT_EQ(shape_of(graph.outputs[1]), "float32[1,8]");
  EXPECT_EQ(shape_of(graph.value_infos[0]), "float32[1,8,32,48]");
}

TEST(FixShapes, APlaceWithAParameterIsThatParameter) {
  onnx::Model model = read(conv_model());
  fix_shapes(model, {{"x:0", 4}});
  EXPECT_EQ(shape_of(model.proto->graph->inputs[0]), "float32[4,3,?,W]");
  EXPECT_EQ(shape_of(model.proto->graph->inputs[1]), "float32[4,8]");
  EXPECT_EQ(shape_of(model.proto->graph->outputs[0]), "float32[4,8,h,w]");
}

TEST(FixShapes, ReachesSubgraphs) {
  GraphBuilder branch;
  branch.add(kOutput, value("e", {"N", "8"})).node("Relu", {"z"}, {"e"});
  ModelBuilder model;
  model.add(kInput, value("z", {"N", "8"})).input("c", 9, {}).add(kOutput, value("y", {"N", "8"}));
  model.node(
      "If", {"c"}, {"y"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  onnx::Model fixed = read(model);
  fix_shapes(fixed, {{"N", 2}});
  graph::validate(fixed);
  const auto& branches = fixed.proto->graph->nodes[0]->attributes;
  EXPECT_EQ(shape_of((*branches[0]->graphs[0])->outputs[0]), "float32[2,8]");
  EXPECT_EQ(shape_of((*branches[1]->graphs[0])->outputs[0]), "float32[2,8]");
  EXPECT_EQ(shape_of(fixed.proto->graph->outputs[0]), "float32[2,8]");
}

TEST(FixShapes, NothingGivenChangesNothing) {
  onnx::Model model = read(conv_model());
  fix_shapes(model, {});
  EXPECT_EQ(shape_of(model.proto->graph->inputs[0]), "float32[N,3,?,W]");
}

TEST(FixShapes, WrongNamesAreRefused) {
  EXPECT_THAT(message_of({{"M", 1}}), HasSubstr("no input has the dynamic axis 'M'; dynamic axes: N, W, x:2"));
  EXPECT_THAT(message_of({{"h", 1}}), HasSubstr("no input has the dynamic axis 'h'"));
  EXPECT_THAT(message_of({{"x:1", 1}}), HasSubstr("no input has the dynamic axis 'x:1'"));
  EXPECT_THAT(message_of({{"N", 0}}), HasSubstr("must be 1 or more"));
  EXPECT_THAT(message_of({{"N", 1}, {"x:0", 2}}), HasSubstr("the axis 'N' has two lengths, 1 and 2"));
  ModelBuilder fixed;
  fixed.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 4}).node("Relu", {"x"}, {"y"});
  onnx::Model model = read(fixed);
  EXPECT_THROW(fix_shapes(model, {{"N", 1}}), Error);
}

}  // namespace
}  // namespace ounce::passes
