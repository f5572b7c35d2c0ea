#include "formats/onnx/plan/kernel_costs.h"

#include <gtest/gtest.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::plan {
namespace {

using test::ints_attribute;
using test::kFloat;
using test::ModelBuilder;
using test::ramp;

double work_of(const ModelBuilder& builder, const std::map<std::string, graph::Dims>& inputs) {
  const onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  const graph::Index index = graph::validate(model);
  return multiplications(model, index, inputs);
}

// A convolution over an image of any size, and a layer after the mean.
ModelBuilder network(const char* between = "Relu") {
  ModelBuilder model;
  model.input("x", kFloat, {-1, 3, -1, -1}).output("y", kFloat, {-1, 5});
  model.initializer("w", {8, 3, 3, 3}, ramp({8, 3, 3, 3})).initializer("v", {8, 5}, ramp({8, 5}));
  model.node("Conv", {"x", "w"}, {"c"}, {ints_attribute("pads", {1, 1, 1, 1})});
  model.node(between, {"c"}, {"r"}).node("GlobalAveragePool", {"r"}, {"g"}).node("Flatten", {"g"}, {"f"});
  model.node("MatMul", {"f", "v"}, {"y"});
  return model;
}

TEST(Work, CountsEveryWeightAtEveryPositionOfTheGivenInput) {
  EXPECT_EQ(work_of(network(), {{"x", {1, 3, 16, 16}}}), 216 * 256 + 40);
  EXPECT_EQ(work_of(network(), {{"x", {2, 3, 16, 16}}}), 2 * (216 * 256 + 40));
}

TEST(Work, UnknownShapesCountAsTheLargest) {
  EXPECT_GE(work_of(network("Unknown"), {{"x", {1, 3, 16, 16}}}), 216 * 256 + 40);
  EXPECT_GE(work_of(network(), {}), 216 + 40);
}

TEST(Work, AModelWithoutWeightsHasNone) {
  ModelBuilder model;
  model.input("x", kFloat, {4}).output("y", kFloat, {4}).node("Relu", {"x"}, {"y"});
  EXPECT_EQ(work_of(model, {{"x", {4}}}), 0);
}

}  // namespace
}  // namespace ounce::plan
