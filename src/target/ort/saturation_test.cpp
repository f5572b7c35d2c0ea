#include "target/ort/saturation.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "target/ort/model_support.h"

namespace ounce::target {
namespace {

using test::kFloat;
using test::kInt8;
using test::kUint8;
using test::ModelBuilder;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string codes(const std::string& name, int type, const test::Dims& dims, const std::vector<int>& values) {
  std::string raw;
  for (const int value : values) raw += static_cast<char>(value);
  return test::tensor(name, type, dims, raw);
}

// MatMul of quantized x and w with DequantizeLinear.
ModelBuilder pair_model(const std::vector<int>& weight, int type = kInt8) {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 1});
  model.initializer("s", {}, {0.1F});
  model.initializer(codes("xz", kUint8, {}, {0})).initializer(codes("wz", type, {}, {0}));
  model.initializer(codes("w", type, {4, 1}, weight));
  model.node("QuantizeLinear", {"x", "s", "xz"}, {"c"}).node("DequantizeLinear", {"c", "s", "xz"}, {"a"});
  model.node("DequantizeLinear", {"w", "s", "wz"}, {"b"}).node("MatMul", {"a", "b"}, {"y"});
  return model;
}

std::vector<Saturating> found_in(const ModelBuilder& builder) {
  const onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  return find_saturation(model, graph::Index(model)).weights;
}

TEST(Saturation, IsOfLargeNeighbours) {
  const auto found = found_in(pair_model({127, 100, -1, 1}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].worst, 227);
  EXPECT_EQ(found[0].node, 3U);
  EXPECT_THAT(found_in(pair_model({127, 1, 1, 127})), IsEmpty());
  EXPECT_THAT(found_in(pair_model({127, -127, 64, 64})), IsEmpty());
  EXPECT_THAT(found_in(pair_model({64, 65, 0, 0})), SizeIs(1));
}

TEST(Saturation, IsNotOfUnsignedWeights) {
  EXPECT_THAT(found_in(pair_model({255, 255, 255, 255}, kUint8)), IsEmpty());
}

TEST(Saturation, IsNotOfWeightsThatAreOnlyStoredSmall) {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 1});
  model.initializer("s", {}, {0.1F}).initializer(codes("w", kInt8, {4, 1}, {127, 127, 127, 127}));
  model.node("DequantizeLinear", {"w", "s"}, {"b"}).node("MatMul", {"x", "b"}, {"y"});
  EXPECT_THAT(found_in(model), IsEmpty());
}

TEST(Saturation, IsOfIntegerOpsToo) {
  ModelBuilder model(13, 8);
  model.input("x", kUint8, {1, 4}).output("y", 6, {1, 1});
  model.initializer(codes("w", kInt8, {4, 1}, {1, 1, -100, -100}));
  model.node("MatMulInteger", {"x", "w"}, {"y"});
  const auto found = found_in(model);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].worst, 200);
  Saturation saturation{found, {{0, 0}}, 200};
  EXPECT_THAT(saturation.sentence(), HasSubstr("1 integer node may"));
  EXPECT_THAT(saturation.sentence(), HasSubstr("(here: 200)"));
}

// [K = 2, N = 2] after the Transpose: 127 and 100 in the first row of the file form a pair.
TEST(Saturation, IsSeenThroughATranspose) {
  for (const bool is_saturating : {true, false}) {
    ModelBuilder model(13, 8);
    model.input("x", kUint8, {1, 2}).output("y", 6, {1, 2});
    model.initializer(
        codes("w", kInt8, {2, 2}, is_saturating ? std::vector{127, 100, 1, 1} : std::vector{127, 1, 100, 1}));
    model.initializer(codes("xz", kUint8, {}, {0})).initializer(codes("wz", kInt8, {}, {0}));
    model.node("Transpose", {"w"}, {"t"}).node("MatMulInteger", {"x", "t", "xz", "wz"}, {"y"});
    const auto found = found_in(model);
    ASSERT_THAT(found, SizeIs(is_saturating ? 1 : 0));
    if (is_saturating) {
      EXPECT_EQ(found[0].worst, 227);
    }
  }
}

// As exported by quantization-aware training: FP32 weights with QuantizeLinear.
TEST(Saturation, IsSeenBehindQuantizeLinear) {
  for (const float large : {1.27F, 0.1F}) {
    ModelBuilder model(13, 8);
    model.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 1});
    model.initializer("s", {}, {0.01F}).initializer("w", {2, 1}, {1.0F, large});
    model.initializer(codes("xz", kUint8, {}, {0})).initializer(codes("wz", kInt8, {}, {0}));
    model.node("QuantizeLinear", {"x", "s", "xz"}, {"c"}).node("DequantizeLinear", {"c", "s", "xz"}, {"a"});
    model.node("QuantizeLinear", {"w", "s", "wz"}, {"q"}).node("DequantizeLinear", {"q", "s", "wz"}, {"b"});
    model.node("MatMul", {"a", "b"}, {"y"});
    const auto found = found_in(model);
    ASSERT_THAT(found, SizeIs(large > 1 ? 1 : 0));
    if (large > 1) {
      EXPECT_EQ(found[0].worst, 227);
    }
  }
}

// 16-bit activations have no INT8 kernels on CPUs.
TEST(Saturation, IsNotOfWideActivations) {
  ModelBuilder model(21, 10);
  model.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 1});
  model.initializer("s", {}, {0.1F}).initializer(test::tensor("xz", 4, {}, std::string(2, '\0')));
  model.initializer(codes("w", kInt8, {2, 1}, {127, 127})).initializer(codes("wz", kInt8, {}, {0}));
  model.node("QuantizeLinear", {"x", "s", "xz"}, {"c"}).node("DequantizeLinear", {"c", "s", "xz"}, {"a"});
  model.node("DequantizeLinear", {"w", "s", "wz"}, {"b"}).node("MatMul", {"a", "b"}, {"y"});
  EXPECT_THAT(found_in(model), IsEmpty());
}

TEST(Saturation, OfAHugeWeightWithoutValuesIsNone) {
  ModelBuilder model(13, 8);
  model.input("x", kUint8, {1, 0}).output("y", 6, {1, 1});
  model.initializer(codes("w", kInt8, {0, std::int64_t{1} << 40}, {}));
  model.node("MatMulInteger", {"x", "w"}, {"y"});
  EXPECT_THAT(found_in(model), IsEmpty());
}

TEST(Saturation, OfAWeightWithoutValuesBehindQuantizeLinearIsNone) {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, 0}).output("y", kFloat, {1, 1});
  model.initializer("s", {}, {0.01F}).initializer("w", {0, 1}, {});
  model.initializer(codes("xz", kUint8, {}, {0})).initializer(codes("wz", kInt8, {}, {0}));
  model.node("QuantizeLinear", {"x", "s", "xz"}, {"c"}).node("DequantizeLinear", {"c", "s", "xz"}, {"a"});
  model.node("QuantizeLinear", {"w", "s", "wz"}, {"q"}).node("DequantizeLinear", {"q", "s", "wz"}, {"b"});
  model.node("MatMul", {"a", "b"}, {"y"});
  EXPECT_THAT(found_in(model), IsEmpty());
}

// The values of computed weights are unknown.
TEST(Saturation, IsPossibleWhereBothSidesAreComputed) {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, 4}).input("z", kFloat, {4, 1}).output("y", kFloat, {1, 1});
  model.initializer("s", {}, {0.1F}).initializer(codes("q", kInt8, {}, {0}));
  model.node("QuantizeLinear", {"x", "s", "q"}, {"c"}).node("DequantizeLinear", {"c", "s", "q"}, {"a"});
  model.node("QuantizeLinear", {"z", "s", "q"}, {"d"}).node("DequantizeLinear", {"d", "s", "q"}, {"b"});
  model.node("MatMul", {"a", "b"}, {"y"});
  EXPECT_THAT(found_in(model), SizeIs(1));
}

TEST(Saturation, IsDecidedByTheTarget) {
  const ModelBuilder builder = pair_model({127, 100, -1, 1});
  const onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  const graph::Index index(model);
  const auto check = [&](const char* target) { return support_of(model, index, parse_target(target)).check; };
  const TargetCheck old = check("linux-x64@1.30.0+avx2");
  EXPECT_EQ(old.verdict, Verdict::kWrong);
  EXPECT_EQ(old.broken, 1U);
  EXPECT_EQ(old.saturating, 1U);
  EXPECT_EQ(old.worst_pair, 227);
  ASSERT_THAT(old.findings, SizeIs(1));
  EXPECT_THAT(old.findings[0].why, HasSubstr("saturate on CPUs without VNNI"));
  EXPECT_THAT(old.notes, testing::ElementsAre(HasSubstr("(here: 227)")));
  const TargetCheck some = check("linux-x64@1.30.0");
  EXPECT_EQ(some.verdict, Verdict::kRuns);
  EXPECT_EQ(some.saturating, 1U);
  ASSERT_THAT(some.notes, SizeIs(1));
  EXPECT_THAT(some.notes[0], HasSubstr("without VNNI"));
  for (const char* exact : {"linux-x64@1.30.0+vnni", "android-arm64@1.22.0"}) {
    EXPECT_EQ(check(exact).saturating, 0U) << exact;
    EXPECT_EQ(check(exact).verdict, Verdict::kRuns) << exact;
  }
}

}  // namespace
}  // namespace ounce::target
