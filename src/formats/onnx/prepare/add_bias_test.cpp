#include "formats/onnx/prepare/fold_weights.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::Strings;
using test::expect_same_outputs;
using test::noise;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// x [1,2,4,4] through an op with four channels, plus a constant of these dimensions.
ModelBuilder conv_and_add(const Dims& added, bool has_bias = false) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 4, 4}).output("y", kFloat, {1, 4, 4, 4});
  model.initializer("w", {4, 2, 1, 1}, noise({8})).initializer("a", added, noise(added, 5));
  if (has_bias) model.initializer("b", {4}, noise({4}, 6));
  model.node("Conv", has_bias ? Strings{"x", "w", "b"} : Strings{"x", "w"}, {"c"});
  return model;
}

TEST(AddBias, TakesOneValueAChannelOrOneForAll) {
  for (const Dims& dims : {Dims{4, 1, 1}, Dims{1, 4, 1, 1}, Dims{}, Dims{1}, Dims{1, 1, 1, 1}}) {
    for (const Strings& sides : {Strings{"c", "a"}, Strings{"a", "c"}}) {
      ModelBuilder model = conv_and_add(dims);
      model.node("Add", sides, {"y"});
      onnx::Model biased = read(model.bytes());
      EXPECT_EQ(add_bias(biased).count, 1U);
      EXPECT_THAT(text_of(biased), HasSubstr("\nq0 = float32[4]\nConv(x, w, q0) -> y\n"));
      expect_same_outputs(model.bytes(), biased);
    }
  }
}

TEST(AddBias, AddsToTheBiasThatIsThere) {
  ModelBuilder model = conv_and_add({4, 1, 1}, true);
  model.node("Add", {"c", "a"}, {"y"});
  onnx::Model biased = read(model.bytes());
  EXPECT_EQ(add_bias(biased).count, 1U);
  EXPECT_THAT(text_of(biased), HasSubstr("b = float32[4]\nConv(x, w, b) -> y\n"));
  expect_same_outputs(model.bytes(), biased);
}

TEST(AddBias, CountsTheChannelsOfATransposedConvolutionInGroups) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4, 3}).output("y", kFloat, {1, 6, 4});
  model.initializer("w", {4, 3, 2}, noise({24})).initializer("a", {6, 1}, noise({6}, 5));
  model.node("ConvTranspose", {"x", "w"}, {"c"}, {int_attribute("group", 2)});
  model.node("Add", {"c", "a"}, {"y"});
  onnx::Model biased = read(model.bytes());
  EXPECT_EQ(add_bias(biased).count, 1U);
  EXPECT_THAT(text_of(biased), HasSubstr("q0 = float32[6]\n"));
  expect_same_outputs(model.bytes(), biased);
}

// Four rows, four columns and four channels: only the position of the axis distinguishes them.
TEST(AddBias, LeavesWhatIsNotPerChannel) {
  for (const Dims& dims : {Dims{4}, Dims{4, 1}, Dims{1, 1, 4, 1}, Dims{1, 1, 4, 1, 1}}) {
    ModelBuilder model = conv_and_add(dims);
    model.node("Add", {"c", "a"}, {"y"}, {}, "sum");
    onnx::Model biased = read(model.bytes());
    EXPECT_THAT(add_bias(biased).left_alone,
                ElementsAre("node 'sum': its constant is not one value per channel"));
    EXPECT_FALSE(biased.proto.is_edited());
  }
}

TEST(AddBias, SaysNothingOfSumsWithoutConstants) {
  ModelBuilder model = conv_and_add({4, 1, 1});
  model.node("Add", {"c", "c"}, {"y"});
  onnx::Model biased = read(model.bytes());
  const Changes changes = add_bias(biased);
  EXPECT_EQ(changes.count, 0U);
  EXPECT_THAT(changes.left_alone, IsEmpty());
}

TEST(AddBias, LeavesAnOpWhoseOutputIsWantedElsewhere) {
  ModelBuilder output = conv_and_add({4, 1, 1});
  output.output("c", kFloat, {1, 4, 4, 4}).node("Add", {"c", "a"}, {"y"}, {}, "sum");
  GraphBuilder branch;
  branch.output("e", kFloat, {1, 4, 4, 4}).node("Relu", {"c"}, {"e"});
  ModelBuilder captured = conv_and_add({4, 1, 1});
  captured.node("Add", {"c", "a"}, {"y"}, {}, "sum").input("which", 9, {}).output("z", kFloat, {1, 4, 4, 4});
  captured.node(
      "If", {"which"}, {"z"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  for (const ModelBuilder& model : {output, captured}) {
    onnx::Model biased = read(model.bytes());
    EXPECT_THAT(add_bias(biased).left_alone, ElementsAre("node 'sum': 'c' is used elsewhere too"));
  }
}

TEST(AddBias, MakesAnotherBiasWhereItIsShared) {
  ModelBuilder model = conv_and_add({4, 1, 1}, true);
  model.node("Add", {"c", "a"}, {"y"});
  model.node("Conv", {"x", "w", "b"}, {"z"}).output("z", kFloat, {1, 4, 4, 4});
  onnx::Model biased = read(model.bytes());
  EXPECT_EQ(add_bias(biased).count, 1U);
  EXPECT_THAT(text_of(biased), HasSubstr("Conv(x, w, q0) -> y\nConv(x, w, b) -> z\n"));
  expect_same_outputs(model.bytes(), biased);
}

}  // namespace
}  // namespace ounce::passes
