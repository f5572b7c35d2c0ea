#include "formats/onnx/graph/shapes.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::graph {
namespace {

using test::ints_attribute;
using test::kFloat;
using test::ModelBuilder;
using test::ramp;
using ::testing::ElementsAre;

Dims shape_of(const ModelBuilder& builder, Bytes name) {
  const onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  const Index index = validate(model);
  const InferredShapes shapes(model, index);
  const Dims* dims = shapes.of(name);
  return dims == nullptr ? Dims{-99} : *dims;
}

TEST(InferredShapes, FollowConvolutionsAndPools) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 224, 224}).output("y", kFloat, {1});
  model.initializer("w", {8, 3, 7, 7}, ramp({8, 3, 7, 7}));
  model.node("Conv", {"x", "w"}, {"c"},
             {ints_attribute("strides", {2, 2}), ints_attribute("pads", {3, 3, 3, 3})});
  model.node("Relu", {"c"}, {"r"});
  model.node("MaxPool", {"r"}, {"p"},
             {ints_attribute("kernel_shape", {3, 3}), ints_attribute("strides", {2, 2}),
              ints_attribute("pads", {1, 1, 1, 1})});
  model.node("Add", {"p", "p"}, {"a"})
      .node("GlobalAveragePool", {"a"}, {"g"})
      .node("Flatten", {"g"}, {"f"})
      .node("Identity", {"f"}, {"y"});
  EXPECT_THAT(shape_of(model, "r"), ElementsAre(1, 8, 112, 112));
  EXPECT_THAT(shape_of(model, "a"), ElementsAre(1, 8, 56, 56));
  EXPECT_THAT(shape_of(model, "f"), ElementsAre(1, 8));
}

TEST(InferredShapes, LeaveOpenWhatTheFileLeavesOpen) {
  ModelBuilder model;
  model.input("x", kFloat, {-1, 3, -1, 16})
      .output("y", kFloat, {1})
      .initializer("w", {8, 3, 3, 3}, ramp({8, 3, 3, 3}));
  model.node("Conv", {"x", "w"}, {"c"}).node("Unheard", {"c"}, {"u"}).node("Relu", {"u"}, {"y"});
  EXPECT_THAT(shape_of(model, "c"), ElementsAre(-1, 8, -1, 14));
  EXPECT_THAT(shape_of(model, "u"), ElementsAre(-99));
}

}  // namespace
}  // namespace ounce::graph
