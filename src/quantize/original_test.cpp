#include "quantize/original.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "quantize/statement.h"
#include "support/model_builder.h"
#include "support/ramp.h"

namespace ounce::quantization {
namespace {

using test::field;
using test::kFloat;
using test::kInt8;
using test::kUint8;
using test::ModelBuilder;
using test::ramp;
using testing::EndsWith;

constexpr std::uint32_t kMetadata = 14;

std::string metadata(const std::string& key, const std::string& value) {
  return field(1, key) + field(2, value);
}

ModelBuilder product() {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 4});
  model.initializer("w", {4, 4}, ramp({4, 4}));
  model.node("MatMul", {"x", "w"}, {"y"});
  return model;
}

ModelBuilder written(Format format) {
  Statement statement;
  statement.recipe.format = format;
  ModelBuilder model = product();
  model.add_to_model(kMetadata, metadata("ounce.plan", "0"));
  model.add_to_model(kMetadata, metadata(Statement::kMetadataKey, statement_text(statement)));
  return model;
}

std::string why(const ModelBuilder& builder) {
  const std::string bytes = builder.bytes();
  const onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  return why_no_original(model, graph::validate(model));
}

// Returns the error of require_original(); empty if there is none.
std::string refusal(const ModelBuilder& builder, Format wanted) {
  const std::string bytes = builder.bytes();
  const onnx::Model model = onnx::read_model_from_memory(bytes, "model");
  try {
    require_original(model, wanted);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.what();
  }
}

TEST(Original, AModelThatOunceWroteIsNone) {
  EXPECT_EQ(why(product()), "");
  EXPECT_EQ(why(written(Format::kW8)), "already quantized by Ounce (w8)");
  EXPECT_EQ(why(written(Format::kFp16)), "already quantized by Ounce (fp16)");
}

TEST(Original, AFileOfAnotherReleaseIsKnownToo) {
  ModelBuilder plain = product(), unreadable = product();
  plain.add_to_model(kMetadata, metadata("ounce.plan", "0"));
  unreadable.add_to_model(kMetadata, metadata("ounce.plan", "0"));
  unreadable.add_to_model(kMetadata, metadata(Statement::kMetadataKey, "{"));
  EXPECT_EQ(why(plain), "already quantized by Ounce");
  EXPECT_EQ(why(unreadable), "already quantized by Ounce");
}

TEST(Original, OtherMetadataOfOunceSaysNothing) {
  ModelBuilder model = product();
  model.add_to_model(kMetadata, metadata("ounce.contract", "{}"));
  EXPECT_EQ(why(model), "");
}

TEST(Original, IsAskedForInOneSentence) {
  const std::string sentence = "Already quantized by Ounce (w8). Quantize the original model instead.";
  EXPECT_THAT(refusal(written(Format::kW8), Format::kW8), EndsWith(sentence));
  EXPECT_THAT(refusal(written(Format::kW8), Format::kInt8Dynamic), EndsWith(sentence));
  EXPECT_NE(refusal(written(Format::kFp16), Format::kInt8Dynamic), "");
  // 16-bit weights can be compressed further.
  EXPECT_EQ(refusal(written(Format::kFp16), Format::kW8), "");
  EXPECT_EQ(refusal(product(), Format::kInt8Dynamic), "");
}

// x ─ Q ─ DQ ─ MatMul(DQ(weight)): the weight is stored as int8, or as FP32 with a Q.
ModelBuilder of_another_tool(bool stores_integers) {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 2}).initializer("s", {}, {0.01F});
  model.initializer(test::tensor("xz", kUint8, {}, std::string(1, '\0')));
  model.initializer(test::tensor("wz", kInt8, {}, std::string(1, '\0')));
  model.node("QuantizeLinear", {"x", "s", "xz"}, {"c"}).node("DequantizeLinear", {"c", "s", "xz"}, {"a"});
  if (stores_integers) {
    model.initializer(test::tensor("wq", kInt8, {2, 2}, "abcd"));
  } else {
    model.initializer("w", {2, 2}, ramp({2, 2}));
    model.node("QuantizeLinear", {"w", "s", "wz"}, {"wq"});
  }
  model.node("DequantizeLinear", {"wq", "s", "wz"}, {"wf"}).node("MatMul", {"a", "wf"}, {"y"});
  return model;
}

TEST(Original, AModelThatAnotherToolHasFinishedIsNone) {
  EXPECT_EQ(why(of_another_tool(true)), "already quantized (1 QuantizeLinear, 2 DequantizeLinear)");
  EXPECT_EQ(why(of_another_tool(false)), "");  // its weights are still FP32
  EXPECT_EQ(refusal(of_another_tool(true), Format::kW8), "");
}

TEST(Original, AModelOfIntegerOpsIsNone) {
  ModelBuilder model(13, 8);
  model.input("x", kUint8, {1, 2}).output("y", test::kInt32, {1, 2});
  model.initializer(test::tensor("w", kUint8, {2, 2}, "abcd"));
  model.node("MatMulInteger", {"x", "w"}, {"y"});
  EXPECT_EQ(why(model), "already quantized (1 MatMulInteger)");
}

}  // namespace
}  // namespace ounce::quantization
