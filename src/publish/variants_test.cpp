#include "publish/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::publication {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Variant& variant(const std::string& name) { return *chosen_variants({name}).at(0); }

TEST(VariantsTest, FilesAreNamedAsEachLayoutLooksForThem) {
  EXPECT_EQ(place_of(Layout::kHuggingFace, "model", variant("fp32")), "onnx/model.onnx");
  EXPECT_EQ(place_of(Layout::kHuggingFace, "model", variant("q8")), "onnx/model_quantized.onnx");
  EXPECT_EQ(place_of(Layout::kHuggingFace, "encoder_model", variant("q4")), "onnx/encoder_model_q4.onnx");
  EXPECT_EQ(place_of(Layout::kGenai, "model", variant("q4")), "q4/model.onnx");
  EXPECT_EQ(place_of(Layout::kPlain, "model", variant("fp32")), "model.onnx");
  EXPECT_EQ(place_of(Layout::kPlain, "model", variant("int8")), "model.int8.onnx");
  EXPECT_EQ(data_name_of(Layout::kHuggingFace, "onnx/model_q4.onnx"), "model_q4.onnx_data");
  EXPECT_EQ(data_name_of(Layout::kGenai, "q4/model.onnx"), "model.onnx.data");
}

TEST(VariantsTest, WhatIsMadeIsKnownAsAVariantOfItsModel) {
  for (const Layout layout : {Layout::kHuggingFace, Layout::kPlain}) {
    for (const Variant& one : all_variants()) {
      const std::string stem = place_of(layout, "decoder_model_merged", one).stem().string();
      EXPECT_EQ(original_of(stem), one.recipes.empty() ? "" : "decoder_model_merged") << stem;
    }
  }
  EXPECT_EQ(original_of("model_q4f16"), "model");
  EXPECT_EQ(original_of("model_bnb4"), "model");
  EXPECT_EQ(original_of("model"), "");
  EXPECT_EQ(original_of("_q4"), "");
}

TEST(VariantsTest, ComeInOneOrderAndOnce) {
  EXPECT_THAT(usual_variants(), ElementsAre("fp32", "fp16", "q8", "q4"));
  const auto chosen = chosen_variants({"q4", "fp32", "q4"});
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0]->name, "fp32");
  EXPECT_EQ(chosen_variants({}).size(), usual_variants().size());
  const Error error = test::error_of([] { chosen_variants({"q5"}); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("fp32, fp16, q8"));
}

}  // namespace
}  // namespace ounce::publication
