#include "publish/configs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::publication {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kSection = std::string(kCardBegin) + "\nours\n" + kCardEnd + "\n";

std::string with(const std::string& readme) { return with_section(readme, kSection, "title", "README.md"); }

TEST(ModelCardTest, EverythingAroundTheSectionStays) {
  const std::string before = "---\nlicense: mit\n---\n# Mine\n", after = "\nThe end, without a line break";
  EXPECT_EQ(with(before), before + "\n" + kSection);
  EXPECT_EQ(with("no line break"), "no line break\n\n" + kSection);
  const std::string old = std::string(kCardBegin) + "\nold | table\n" + kCardEnd + "\n";
  EXPECT_EQ(with(before + old + after), before + kSection + after);
  EXPECT_EQ(with(with(before)), with(before));
  EXPECT_EQ(with(""), "# title\n\n" + kSection);
}

TEST(ModelCardTest, AMarkerAloneIsRefused) {
  for (const std::string& readme :
       {std::string(kCardBegin), std::string(kCardEnd), std::string(kCardEnd) + kCardBegin})
    EXPECT_EQ(test::error_of([&] { with(readme); }).code(), ErrorCode::kBadInput) << readme;
}

PublishResult one_variant() {
  PublishResult result;
  result.runtime_version = "1.31.0";
  PublishedVariant variant;
  variant.variant = "q8";
  variant.file = "onnx/a|b_quantized.onnx";
  variant.is_written = true;
  variant.format = Format::kInt8Dynamic;
  variant.bytes = 250'000;
  variant.ratio = 0.25;
  variant.releases = {{"x64", "1.14.0"}};
  VerifyResult verified;
  verified.samples = 64;
  verified.worst_sqnr_db = 33.21;
  MetricResult metric;
  metric.name = "top1_accuracy";
  metric.reference = 0.95;
  metric.candidate = 0.94;
  metric.drop_low = -0.01;
  metric.drop_high = 0.03;
  verified.metrics = {metric};
  variant.verified = verified;
  PublishedVariant failed;
  failed.variant = "q4";
  failed.file = "onnx/q4-file";
  result.models = {{"model.onnx", {variant, failed}}};
  return result;
}

TEST(ModelCardTest, ShowsWhatWasMeasuredAndNoMore) {
  const std::string text = card_section(one_variant());
  EXPECT_THAT(text, StartsWith(kCardBegin));
  EXPECT_THAT(
      text,
      HasSubstr("| q8 | onnx/a\\|b_quantized.onnx | int8-dynamic (INT8 dynamic, W8A8) | 250.0 kB (25 %) | "
                "top1_accuracy 0.94 (original 0.95; drop -0.01 to 0.03, 95 %), 33.2 dB | x64 ≥ 1.14.0 |"));
  EXPECT_THAT(text, HasSubstr("64 samples in ONNX Runtime 1.31.0"));
  EXPECT_THAT(text, Not(HasSubstr("q4-file")));
  EXPECT_THAT(text, Not(HasSubstr("memory")));
}

}  // namespace
}  // namespace ounce::publication
