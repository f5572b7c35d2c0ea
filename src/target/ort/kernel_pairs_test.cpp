#include "target/ort/saturation.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"

namespace ounce::target {
namespace {

using Order = quant::DotProductPairs::Order;

quant::DotProductPairs pairs_for(const std::string& op, const std::vector<std::int64_t>& dims,
                                 const test::Strings& attributes = {}, const std::string& domain = {}) {
  test::ModelBuilder builder;
  builder.input("x", test::kFloat, {4}).add(1, test::node(op, {"x", "w"}, {"y"}, attributes, "", domain));
  builder.initializer("w", {1}, {1});
  const onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  return pairs_of(*model.proto->graph->nodes[0], dims);
}

TEST(KernelPairs, FollowTheOp) {
  const auto conv = pairs_for("QLinearConv", {8, 3, 5, 5});
  EXPECT_EQ(conv.order, Order::kRows);
  EXPECT_EQ(conv.inputs, 3U);
  EXPECT_EQ(conv.taps, 25U);
  const auto matrix = pairs_for("MatMulInteger", {2, 7, 9});
  EXPECT_EQ(matrix.order, Order::kColumns);
  EXPECT_EQ(matrix.inputs, 7U);
  EXPECT_EQ(matrix.channels, 9U);
  EXPECT_EQ(pairs_for("Gemm", {7, 9}).order, Order::kColumns);
  const auto transposed = pairs_for("QGemm", {7, 9}, {test::int_attribute("transB", 1)}, "com.microsoft");
  EXPECT_EQ(transposed.order, Order::kRows);
  EXPECT_EQ(transposed.inputs, 9U);
  EXPECT_EQ(pairs_for("LSTM", {2, 32, 5}).inputs, 5U);
  EXPECT_EQ(pairs_for("DynamicQuantizeLSTM", {2, 5, 32}, {}, "com.microsoft").inputs, 5U);
  EXPECT_EQ(pairs_for("MatMul", {6}).inputs, 6U);
}

TEST(KernelPairs, AreNoneInExactKernels) {
  EXPECT_FALSE(pairs_for("Conv", {8, 1, 3, 3}, {test::int_attribute("group", 8)}).exist());
  EXPECT_TRUE(pairs_for("Conv", {8, 1, 3, 3}, {test::int_attribute("group", 4)}).exist());
  EXPECT_TRUE(pairs_for("Conv", {8, 1, 3, 3}).exist());
  EXPECT_FALSE(pairs_for("Relu", {8, 8}).exist());
}

TEST(ExactProducts, ArePromisedByTheTargetAlone) {
  for (const char* text : {"linux-x64@1.30.0+vnni", "android-arm64@1.22.0", "coreml", "cuda",
                           "windows-x64@1.22.0+directml", "ort-web@1.18.0", "linux-x64@1.30.0+openvino+vnni"})
    EXPECT_TRUE(has_exact_dot(parse_target(text))) << text;
  // Even if this machine has exact products, because models run on other machines.
  for (const char* text : {"", "cpu", "linux-x64@1.30.0", "linux-x64@1.30.0+avx2", "macos-x64+avx512",
                           "linux-x64@1.30.0+openvino"})
    EXPECT_FALSE(has_exact_dot(parse_target(text))) << text;
}

}  // namespace
}  // namespace ounce::target
