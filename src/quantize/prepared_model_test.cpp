#include "quantize/prepared_model.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/tensor_reader.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::quantization {
namespace {

using test::int_attribute;
using test::kFloat;
using test::kInt8;
using test::kUint8;
using test::ModelBuilder;
using test::Strings;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A model as exported by quantization-aware training: FP32 weights with Q and DQ. The second of three
// channels has two adjacent weights whose int8 products saturate on x86 CPUs without VNNI.
constexpr float kScales[] = {0.011F, 0.0123F, 0.0101F};

ModelBuilder trained() {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 3});
  std::vector<float> weights;
  for (const std::vector<int>& row : {std::vector{5, 127, 100}, {60, 120, -100}, {7, 3, 11}, {-9, 2, 90}}) {
    for (std::size_t c = 0; c < row.size(); ++c) weights.push_back(static_cast<float>(row[c]) * kScales[c]);
  }
  model.initializer("w", {4, 3}, weights).initializer("ws", {3}, {std::begin(kScales), std::end(kScales)});
  model.initializer(test::tensor("wz", kInt8, {3}, std::string(3, '\0')));
  model.initializer("xs", {}, {0.0173F}).initializer(test::tensor("xz", kUint8, {}, "\x80"));
  const Strings axis = {int_attribute("axis", 1)};
  model.node("QuantizeLinear", {"x", "xs", "xz"}, {"xq"})
      .node("DequantizeLinear", {"xq", "xs", "xz"}, {"xd"});
  model.node("QuantizeLinear", {"w", "ws", "wz"}, {"wq"}, axis);
  model.node("DequantizeLinear", {"wq", "ws", "wz"}, {"wd"}, axis);
  model.node("MatMul", {"xd", "wd"}, {"y"}, {}, "product");
  return model;
}

class TrainedModel : public testing::Test {
 protected:
  PreparedModel prepare(const std::string& target, std::optional<bool> reduce_range = {}) {
    test::write_file(folder_ / "model.onnx", trained().bytes());
    QuantizeOptions options;
    options.recipe.format = Format::kInt8;
    options.recipe.target = target;
    options.recipe.integer.reduce_range = reduce_range;
    return *prepare_model(folder_ / "model.onnx", options);
  }

  // Scales and quantized values of the weight.
  struct Weight {
    std::vector<float> scales;
    std::vector<int> codes;
  };
  static Weight weight_of(const PreparedModel& prepared) {
    const graph::Index& index = prepared.index();
    const graph::Body& main = index.main();
    const onnx::Node& node = *main.nodes()[index.find(0, "wd").value->producer];
    const auto bytes = [&](onnx::Bytes name) {
      const std::size_t at = index.find(0, name).value->initializer;
      return std::string(onnx::RawValues(*main.graph->initializers[at]).bytes());
    };
    Weight weight;
    for (const char code : bytes(node.inputs[0])) weight.codes.push_back(static_cast<signed char>(code));
    const std::string scales = bytes(node.inputs[1]);
    weight.scales.resize(scales.size() / sizeof(float));
    std::memcpy(weight.scales.data(), scales.data(), scales.size());
    return weight;
  }

  test::TemporaryFolder folder_;
};

TEST_F(TrainedModel, KeepsItsScalesAndCodesToTheBit) {
  for (const char* target : {"", "cpu", "cuda", "linux-x64@1.30.0+vnni", "android-arm64@1.22.0"}) {
    const PreparedModel prepared = prepare(target);
    const Weight weight = weight_of(prepared);
    EXPECT_THAT(weight.scales, ElementsAre(kScales[0], kScales[1], kScales[2])) << target;
    EXPECT_THAT(weight.codes, ElementsAre(5, 127, 100, 60, 120, -100, 7, 3, 11, -9, 2, 90)) << target;
    EXPECT_THAT(prepared.scale_changes(), IsEmpty());
    EXPECT_TRUE(prepared.is_trained());
  }
}

TEST_F(TrainedModel, SaysWhichWeightsCanSaturateWhereNoTargetIsNamed) {
  EXPECT_TRUE(prepare("").keeps_saturating());
  EXPECT_THAT(prepare("").notes(), Contains(HasSubstr("products of 1 weight (product) can saturate")));
  EXPECT_FALSE(prepare("", false).keeps_saturating());
  EXPECT_THAT(prepare("", false).notes(), Not(Contains(HasSubstr("saturate"))));
}

TEST_F(TrainedModel, IsChangedWhereTheTargetSaturatesAndSaysSoForEachWeight) {
  for (const char* target : {"linux-x64@1.30.0+avx2", "linux-x64@1.30.0"}) {
    const PreparedModel prepared = prepare(target);
    ASSERT_THAT(prepared.scale_changes(), SizeIs(1));
    const ScaleChange& change = prepared.scale_changes()[0];
    EXPECT_EQ(change.weight, "wd");
    EXPECT_EQ(change.node, "product");
    EXPECT_EQ(change.op_type, "MatMul");
    EXPECT_EQ(change.scales, 3U);
    EXPECT_EQ(change.changed, 1U);
    EXPECT_NEAR(change.largest_factor, 247.0 / 127, 1e-9);
    const Weight weight = weight_of(prepared);
    EXPECT_EQ(weight.scales[0], kScales[0]);
    EXPECT_FLOAT_EQ(weight.scales[1], kScales[1] * static_cast<float>(change.largest_factor));
    EXPECT_EQ(weight.scales[2], kScales[2]);
    EXPECT_THAT(weight.codes, ElementsAre(5, 65, 100, 60, 62, -100, 7, 2, 11, -9, 1, 90));
    EXPECT_FALSE(prepared.keeps_saturating());
    EXPECT_THAT(
        prepared.notes(),
        Contains(std::string("1 of 3 trained scales of 'wd' (MatMul 'product') increased by up to 1.94×, "
                             "because its int8 products saturate on ") +
                 target));
  }
}

TEST_F(TrainedModel, IsChangedWhereTheUserAsksForLessRange) {
  EXPECT_THAT(prepare("", true).scale_changes(), SizeIs(1));
  EXPECT_THAT(prepare("linux-x64@1.30.0+avx2", false).scale_changes(), IsEmpty());
}

// Five Gemm nodes whose weights are computed, so that dynamic quantization cannot split them into MatMul and
// Add.
TEST(PreparedModelNotes, NameNodesThatAreNotRewritten) {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, 2}).input("w", kFloat, {2, 2}).output("y", kFloat, {1, 2});
  model.initializer("v", {2, 2}, {1, 2, 3, 4});
  model.node("MatMul", {"x", "v"}, {"v0"}, {}, "product");
  for (int i = 0; i < 5; ++i) {
    const std::string from = "v" + std::to_string(i), to = i == 4 ? "y" : "v" + std::to_string(i + 1);
    model.node("Gemm", {from, "w"}, {to}, {}, "gemm" + std::to_string(i));
  }
  const test::TemporaryFolder folder;
  test::write_file(folder / "model.onnx", model.bytes());
  QuantizeOptions options;
  options.recipe.format = Format::kInt8Dynamic;
  options.recipe.min_bytes = 1;
  const std::string why = "its right input is not a constant";
  EXPECT_THAT(prepare_model(folder / "model.onnx", options)->notes(),
              Contains("not rewritten for INT8 kernels: node 'gemm0': " + why + "; node 'gemm1': " + why +
                       "; node 'gemm2': " + why + "; and 2 more"));
}

}  // namespace
}  // namespace ounce::quantization
