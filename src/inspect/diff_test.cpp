#include <gmock/gmock.h>
#include <ounce/error.h>
#include <ounce/model.h>

#include <cmath>

#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using test::field;
using test::int_attribute;
using test::kFloat;
using test::ModelBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

// x → MatMul(w) → Relu → y, with names that begin with `prefix`.
struct Network {
  std::string prefix = "a_", relu = "Relu", input = "x";
  std::vector<float> weight = {1, 2, 3, 4};
  test::Dims shape = {2, 2};
  std::int64_t opset = 17;
  bool has_more = false;

  ModelBuilder built() const {
    ModelBuilder model(opset);
    model.input(input, kFloat, {1, 2}).output("y", kFloat, {1, 2});
    model.initializer(prefix + "w", shape, weight);
    model.node("MatMul", {input, prefix + "w"}, {prefix + "m"}, {}, prefix + "matmul");
    if (has_more) model.node("Neg", {prefix + "m"}, {prefix + "n"}, {}, prefix + "neg");
    model.node(relu, {prefix + (has_more ? "n" : "m")}, {"y"}, {}, prefix + "relu");
    return model;
  }
};

class DiffTest : public testing::Test {
 protected:
  DiffResult diff_of(const ModelBuilder& a, const ModelBuilder& b) {
    test::write_file(folder / "a.onnx", a.bytes());
    test::write_file(folder / "b.onnx", b.bytes());
    return diff(folder / "a.onnx", folder / "b.onnx");
  }
  DiffResult diff_of(const Network& a, const Network& b) { return diff_of(a.built(), b.built()); }

  test::TemporaryFolder folder;
};

TEST_F(DiffTest, AModelIsTheSameAsItself) {
  const DiffResult result = diff_of(Network{}, Network{});
  EXPECT_TRUE(result.is_same());
  EXPECT_EQ(result.nodes_matched, 2U);
  EXPECT_EQ(result.nodes_renamed + result.tensors_renamed, 0U);
}

TEST_F(DiffTest, NamesInsideOfAModelAreNoDifference) {
  const DiffResult result = diff_of(Network{}, Network{.prefix = "another_"});
  EXPECT_TRUE(result.is_same());
  EXPECT_EQ(result.nodes_renamed, 2U);
  EXPECT_EQ(result.tensors_renamed, 1U);
}

TEST_F(DiffTest, NamesOfInputsAreOne) {
  const DiffResult result = diff_of(Network{}, Network{.input = "pixels"});
  ASSERT_EQ(result.changes.size(), 2U);
  EXPECT_EQ(result.changes[0].what, "input");
  EXPECT_EQ(result.nodes_matched, 2U);  // matched by position
}

TEST_F(DiffTest, WeightsAreComparedWhereverTheyAreCalledOtherwise) {
  const DiffResult result = diff_of(Network{}, Network{.prefix = "b_", .weight = {1, 2, 3, 4.5}});
  ASSERT_EQ(result.tensors.size(), 1U);
  const TensorChange& weight = result.tensors[0];
  EXPECT_EQ(weight.name, "a_w");
  EXPECT_EQ(weight.name_after, "b_w");
  EXPECT_TRUE(weight.is_compared);
  EXPECT_NEAR(weight.sqnr_db, 10 * std::log10(30 / 0.25), 1e-9);
  EXPECT_DOUBLE_EQ(weight.max_abs_diff, 0.5);
  EXPECT_FALSE(result.is_same());
}

TEST_F(DiffTest, ValuesThatAreNoNumbersAreToldApart) {
  EXPECT_TRUE(diff_of(Network{.weight = {NAN, 2, 3, 4}}, Network{.weight = {NAN, 2, 3, 4}}).is_same());
  const DiffResult result = diff_of(Network{}, Network{.weight = {NAN, 2, 3, 4}});
  ASSERT_EQ(result.tensors.size(), 1U);
  EXPECT_TRUE(std::isnan(result.tensors[0].max_abs_diff));
}

TEST_F(DiffTest, NewNodesAreNewAndTheirNeighboursAreFedByThem) {
  const DiffResult result = diff_of(Network{}, Network{.has_more = true});
  ASSERT_EQ(result.nodes_added.size(), 1U);
  EXPECT_EQ(result.nodes_added[0].op_type, "Neg");
  EXPECT_THAT(result.nodes_removed, IsEmpty());
  ASSERT_EQ(result.nodes_changed.size(), 1U);
  EXPECT_THAT(result.nodes_changed[0].changes,
              ElementsAre("input 0 comes from Neg 'a_neg' instead of MatMul 'a_matmul'"));
  EXPECT_THAT(result.tensors, IsEmpty());
}

TEST_F(DiffTest, AnotherOpIsAnotherNode) {
  const DiffResult result = diff_of(Network{}, Network{.relu = "Sigmoid"});
  EXPECT_EQ(result.nodes_added.size(), 1U);
  EXPECT_EQ(result.nodes_removed.size(), 1U);
  EXPECT_EQ(result.ops[0].op_type, "Relu");
  EXPECT_EQ(result.ops[0].before, 1U);
  EXPECT_EQ(result.ops[0].after, 0U);
}

TEST_F(DiffTest, OpsetAndMetadataAreToldApart) {
  ModelBuilder with_metadata = Network{.opset = 18}.built();
  with_metadata.add_to_model(14, field(1, std::string("key")) + field(2, std::string("value")));
  const DiffResult result = diff_of(Network{}.built(), with_metadata);
  ASSERT_EQ(result.changes.size(), 2U);
  EXPECT_EQ(result.changes[0].what, "opset");
  EXPECT_EQ(result.changes[0].after, "18");
  EXPECT_EQ(result.changes[1].what, "metadata");
  EXPECT_EQ(result.changes[1].before, "");
}

TEST_F(DiffTest, AttributesAreToldApartInAnyOrder) {
  const auto with = [](const test::Strings& attributes) {
    ModelBuilder model;
    model.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 2});
    model.node("Softmax", {"x"}, {"y"}, attributes, "softmax");
    return model;
  };
  const std::string one = int_attribute("axis", 1), other = int_attribute("axis", 0),
                    more = int_attribute("more", 3);
  EXPECT_TRUE(diff_of(with({one, more}), with({more, one})).is_same());
  const DiffResult result = diff_of(with({one}), with({other, more}));
  ASSERT_EQ(result.nodes_changed.size(), 1U);
  EXPECT_THAT(result.nodes_changed[0].changes,
              ElementsAre("attribute 'axis' changed", "attribute 'more' was added"));
}

TEST_F(DiffTest, ValuesInAttributesAreToldApart) {
  const auto filled_with = [](float value) {
    ModelBuilder model;
    model.input("x", test::kInt64, {1}).output("y", kFloat, {1});
    model.node("ConstantOfShape", {"x"}, {"y"},
               {test::tensor_attribute("value", test::float_tensor("", {1}, {value}))}, "fill");
    return model;
  };
  EXPECT_TRUE(diff_of(filled_with(1), filled_with(1)).is_same());
  EXPECT_EQ(diff_of(filled_with(1), filled_with(2)).nodes_changed.size(), 1U);
}

TEST_F(DiffTest, ConstantNodesAreWeights) {
  const auto adding = [](float value) {
    ModelBuilder model;
    model.input("x", kFloat, {1}).output("y", kFloat, {1});
    model.node("Constant", {}, {"c"}, {test::tensor_attribute("value", test::float_tensor("", {1}, {value}))},
               "c");
    model.node("Add", {"x", "c"}, {"y"}, {}, "add");
    return model;
  };
  const DiffResult result = diff_of(adding(1), adding(2));
  EXPECT_THAT(result.nodes_changed, IsEmpty());
  ASSERT_EQ(result.tensors.size(), 1U);
  EXPECT_DOUBLE_EQ(result.tensors[0].max_abs_diff, 1);
}

TEST_F(DiffTest, WiresThatAreSwappedAreSeen) {
  const auto subtracting = [](const char* first, const char* second) {
    ModelBuilder model;
    model.input("x", kFloat, {1}).output("y", kFloat, {1});
    model.node("Neg", {"x"}, {"a"}, {}, "neg").node("Abs", {"x"}, {"b"}, {}, "abs");
    model.node("Sub", {first, second}, {"y"}, {}, "sub");
    return model;
  };
  const DiffResult result = diff_of(subtracting("a", "b"), subtracting("b", "a"));
  ASSERT_EQ(result.nodes_changed.size(), 1U);
  EXPECT_EQ(result.nodes_changed[0].changes.size(), 2U);
}

TEST_F(DiffTest, ShapesAreToldApart) {
  const DiffResult result = diff_of(Network{}, Network{.weight = {1, 2, 3, 4, 5, 6}, .shape = {2, 3}});
  ASSERT_EQ(result.tensors.size(), 1U);
  EXPECT_EQ(result.tensors[0].before, "float32[2,2]");
  EXPECT_EQ(result.tensors[0].after, "float32[2,3]");
  EXPECT_FALSE(result.tensors[0].is_compared);
}

TEST_F(DiffTest, ABrokenFileIsRefused) {
  test::write_file(folder / "broken.onnx", "not a model");
  test::write_file(folder / "a.onnx", Network{}.built().bytes());
  EXPECT_EQ(test::error_of([&] { diff(folder / "a.onnx", folder / "broken.onnx"); }).code(),
            ErrorCode::kBadInput);
}

}  // namespace
}  // namespace ounce
