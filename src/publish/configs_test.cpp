#include "publish/configs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>

#include "support/error_of.h"

namespace ounce::publication {
namespace {

using nlohmann::ordered_json;

WrittenVariant fp32(bool has_data = false) {
  return {"model", "fp32", "onnx/model.onnx", has_data, Format::kFp32, {"MatMul"}};
}
WrittenVariant q4(bool has_data = false) {
  return {"model", "q4", "onnx/model_q4.onnx", has_data, Format::kW4, {"Add", "MatMul"}};
}

ordered_json updated(const std::string& text, const std::vector<WrittenVariant>& written) {
  return ordered_json::parse(transformers_config(text, written, "config.json"));
}

TEST(ConfigsTest, AConfigThatSaysItAllStaysAsItIs) {
  EXPECT_EQ(transformers_config(R"({"a":1})", {fp32(), q4()}, "config.json"), "");
}

TEST(ConfigsTest, ExternalDataIsDeclaredFileByFile) {
  const ordered_json config = updated(R"({"z":1,"a":1e-12})", {fp32(), q4(true)});
  EXPECT_EQ(
      config.dump(),
      R"({"z":1,"a":1e-12,"transformers.js_config":{"use_external_data_format":{"model_q4.onnx":true}}})");
}

TEST(ConfigsTest, WhatWasSaidOfOtherFilesIsForgotten) {
  const std::string text =
      R"({"transformers.js_config":{"use_external_data_format":true,"kv_cache_dtype":{"fp16":"float16"}}})";
  EXPECT_EQ(updated(text, {fp32(), q4()}).dump(),
            R"({"transformers.js_config":{"kv_cache_dtype":{"fp16":"float16"}}})");
}

TEST(ConfigsTest, WithoutFp32AnotherOneIsLoadedByDefault) {
  EXPECT_EQ(updated("{}", {q4()})["transformers.js_config"]["dtype"], "q4");
  WrittenVariant decoder = q4();
  decoder.stem = "decoder_model";
  EXPECT_EQ(updated("{}", {fp32(), decoder})["transformers.js_config"]["dtype"].dump(),
            R"({"model":"fp32","decoder_model":"q4"})");
}

TEST(ConfigsTest, WhatIsNoConfigIsRefused) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({"a":)";
  for (const std::string& text :
       {std::string("not JSON"), std::string("[]"), std::string(R"({"transformers.js_config":1})"), deep})
    EXPECT_EQ(test::error_of([&] { transformers_config(text, {q4()}, "config.json"); }).code(),
              ErrorCode::kBadInput);
}

TEST(ConfigsTest, TheRecordNamesWhatWasMade) {
  const ordered_json config = ordered_json::parse(quantize_config({fp32(), q4()}));
  EXPECT_EQ(config["modes"].dump(), R"(["q4"])");
  EXPECT_EQ(config["per_model_config"]["model"]["op_types"].dump(), R"(["Add","MatMul"])");
  EXPECT_EQ(config["ounce"]["files"]["model_q4.onnx"], "w4");
}

TEST(ConfigsTest, GenaiNamesTheModelThatIsThere) {
  const std::string known = R"({"model":{"decoder":{"filename":"model.onnx"},"type":"llama"}})";
  EXPECT_EQ(genai_config(known, {"model.onnx"}, "g"), "");
  const std::string other = R"({"model":{"decoder":{"filename":"../../etc/passwd","head_size":64}}})";
  EXPECT_EQ(ordered_json::parse(genai_config(other, {"model.onnx"}, "g")).dump(),
            R"({"model":{"decoder":{"filename":"model.onnx","head_size":64}}})");
  EXPECT_EQ(test::error_of([&] {
              genai_config(other, {"a.onnx", "b.onnx"}, "g");
            }).code(),
            ErrorCode::kBadInput);
  EXPECT_EQ(test::error_of([] { genai_config(R"({"model":[]})", {"a.onnx"}, "g"); }).code(),
            ErrorCode::kBadInput);
}

}  // namespace
}  // namespace ounce::publication
