#include "target/litert/litert_support.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"
#include "support/tflite_builder.h"
#include "target/accelerators.h"
#include "target/target.h"

namespace ounce::target {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tflite::Builtin;
using tflite::TensorType;
using tflite::TfliteBuilder;

constexpr const char* kText = R"(ounce-litert 1
measured 2026-01-02
column x64 tflite 2.9.0 sha256=aa
column x64 litert 2.1.6 sha256=bb
column x64 litert 2.3.0 sha256=cc
column arm64 litert 2.3.0 sha256=dd
operators
op ABS 0 1 2 2
xbb+ float32->float32
op CONCATENATION 1 1 1 1
b+++ float32*->float32
op CONV_2D 5 6 8 8
b+++ float32,float32,float32->float32
b+++ int8,int8:channel,int32:channel->int8
x!+r int8,int4:channel,int32:channel->int8
op RELU 3 3 3 3
b+++ float32->float32
bbbb int8->int8
)";

const LitertMatrix& matrix() {
  static const LitertMatrix kept(kText);
  return kept;
}

// y = relu(conv(x)) in INT8 with weights of `type` and an optional bias with per-channel scales.
TfliteBuilder network(TensorType type = TensorType::kInt8, bool has_bias = true, std::int32_t version = 3) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 2, 2, 4}, TensorType::kInt8);
  model.quantized({0.5F}, {0});
  const auto w =
      model.constant("w", {2, 1, 1, 4}, type, std::string(type == TensorType::kInt4 ? 4 : 8, '\1'));
  model.quantized({0.5F, 0.25F}, {0, 0});
  const auto b = model.integers("b", {2}, {1, 2});
  model.quantized({0.25F, 0.125F}, {0, 0});
  const auto y = model.tensor("y", {1, 2, 2, 2}, TensorType::kInt8);
  model.quantized({0.5F}, {0});
  const auto z = model.tensor("z", {1, 2, 2, 2}, TensorType::kInt8);
  model.quantized({0.5F}, {0});
  model.op(Builtin::kConv2D, {x, w, has_bias ? b : -1}, {y}, "Conv2DOptions", version);
  model.op(Builtin::kRelu, {y}, {z});
  return model.inputs({x}).outputs({z});
}

TargetCheck check(const TfliteBuilder& model, const char* runtime, const char* version,
                  const char* machine = "x64") {
  LitertTarget target;
  target.name = "t";
  target.system = "linux";
  target.machine = machine;
  target.runtime = runtime;
  target.version = version;
  return litert_support_of(model.model, target, matrix());
}

TEST(LitertMatrixTest, FindsReleasesAndTypes) {
  EXPECT_EQ(matrix().date(), "2026-01-02");
  ASSERT_EQ(matrix().releases().size(), 4U);
  EXPECT_EQ(matrix().releases()[0].text(), "TensorFlow Lite 2.9.0");
  EXPECT_EQ(matrix().find("x64", "litert", "2.3.0"), 2U);
  EXPECT_EQ(matrix().find("x64", "litert", "2.1"), 1U);
  EXPECT_EQ(matrix().find("x64", "litert", "2.1.2"), 1U);
  EXPECT_EQ(matrix().find("x64", "litert", "2.2.0"), std::nullopt);
  EXPECT_EQ(matrix().find("x64", "tflite", "2.3.0"), std::nullopt);
  EXPECT_EQ(matrix().newest("arm64"), 3U);
  EXPECT_EQ(matrix().find_op("NOTHING"), nullptr);
  const LitertMatrix::Op& join = *matrix().find_op("CONCATENATION");
  EXPECT_NE(LitertMatrix::find_line(join, {"float32", "float32", "float32"}, {"float32"}), nullptr);
  EXPECT_EQ(LitertMatrix::find_line(join, {"float32", "int8"}, {"float32"}), nullptr);
  const LitertMatrix::Op& conv = *matrix().find_op("CONV_2D");
  EXPECT_NE(LitertMatrix::find_line(conv, {"int8", "int8:channel", "-"}, {"int8"}), nullptr);
  EXPECT_NE(LitertMatrix::find_line(conv, {"int8", "int8:channel"}, {"int8"}), nullptr);
  EXPECT_EQ(LitertMatrix::find_line(conv, {"int8", "int8", "-"}, {"int8"}), nullptr);
}

TEST(LitertMatrixTest, RefusesWhatIsNoMatrix) {
  for (const char* text : {"", "operators\n", "column x64 litert 2.3.0 sha256=a\noperators\nop ADD\n",
                           "column x64 litert 2.3.0 sha256=a\noperators\nop ADD 1\nbb float32->float32\n",
                           "column x64 litert 2.3.0 sha256=a\noperators\nb float32->float32\n"})
    EXPECT_EQ(error_of([&] { LitertMatrix{text}; }).code(), ErrorCode::kInternal) << text;
}

TEST(LitertMatrixTest, TheOneOfTheProgramIsWhole) {
  const LitertMatrix& measured = LitertMatrix::measured();
  EXPECT_GE(measured.releases().size(), 6U);
  const auto column = measured.find("x64", "litert", "2.3.0");
  ASSERT_TRUE(column.has_value());
  const LitertMatrix::Op* const conv = measured.find_op("CONV_2D");
  ASSERT_NE(conv, nullptr);
  const LitertMatrix::Line* const line =
      LitertMatrix::find_line(*conv, {"int8", "int8:channel", "int32:channel"}, {"int8"});
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->answers[*column], '+');
}

TEST(LitertSupportTest, EveryOperatorHasAVerdictAndARemedy) {
  const TargetCheck new_one = check(network(), "litert", "2.3.0");
  EXPECT_EQ(new_one.verdict, Verdict::kSlow);
  EXPECT_EQ(new_one.measured, "LiteRT 2.3.0, x64");
  EXPECT_EQ(new_one.nodes, 2U);
  EXPECT_EQ(new_one.runs, 1U);
  ASSERT_EQ(new_one.findings.size(), 1U);
  EXPECT_EQ(new_one.findings[0].op_type, "RELU");
  EXPECT_EQ(new_one.findings[0].name, "z");
  EXPECT_EQ(new_one.findings[0].types, "int8->int8");
  EXPECT_THAT(new_one.findings[0].why, HasSubstr("fuse it into the operator in front"));
  // TensorFlow Lite was measured without XNNPACK.
  EXPECT_EQ(check(network(), "tflite", "2.9.0").verdict, Verdict::kRuns);
}

TEST(LitertSupportTest, WhatARuntimeLacksIsSaid) {
  const auto first_of = [](const TargetCheck& found) { return found.findings.at(0); };
  const NodeFinding refused = first_of(check(network(TensorType::kInt4), "tflite", "2.9.0"));
  EXPECT_EQ(refused.verdict, Verdict::kNotImplemented);
  EXPECT_EQ(refused.types, "int8,int4:channel,int32:channel->int8");
  EXPECT_THAT(refused.why, HasSubstr("no kernel for these types: ship LiteRT 2.3.0 or newer"));
  EXPECT_EQ(first_of(check(network(TensorType::kInt4), "litert", "2.1.6")).verdict, Verdict::kWrong);
  const NodeFinding fails = first_of(check(network(TensorType::kInt4), "litert", "2.3.0", "arm64"));
  EXPECT_EQ(fails.verdict, Verdict::kFails);
  EXPECT_THAT(fails.why, HasSubstr("fails at run time: keep it in FP32"));
  const NodeFinding version = first_of(check(network(TensorType::kInt8, true, 8), "litert", "2.1.6"));
  EXPECT_EQ(version.verdict, Verdict::kNotImplemented);
  EXPECT_THAT(version.why,
              HasSubstr("has version 8, and LiteRT 2.1.6 knows up to version 6: ship LiteRT 2.3.0"));
  EXPECT_EQ(check(network(TensorType::kInt8, true, 9), "litert", "2.3.0").verdict, Verdict::kNotImplemented);
  EXPECT_EQ(check(network(TensorType::kInt8, false), "litert", "2.3.0").runs, 1U);
}

TEST(LitertSupportTest, WhatWasNotMeasuredIsUnknown) {
  const TargetCheck release = check(network(), "litert", "2.9.9");
  EXPECT_EQ(release.verdict, Verdict::kUnknown);
  EXPECT_THAT(release.notes,
              ElementsAre(HasSubstr("no data for LiteRT 2.9.9 on x64 (latest measured: LiteRT 2.3.0)")));
  TfliteBuilder custom;
  const auto x = custom.tensor("x", {1}), y = custom.tensor("y", {1}), z = custom.tensor("z", {1});
  custom.custom_op("Mine", {x}, {y}, "");
  custom.op(Builtin::kCeil, {y}, {z});
  custom.inputs({x}).outputs({z});
  const TargetCheck found = check(custom, "litert", "2.3.0");
  EXPECT_EQ(found.unknown, 2U);
  EXPECT_EQ(found.findings[0].op_type, "Mine");
  EXPECT_THAT(found.findings[0].why, HasSubstr("custom operator"));
}

TEST(LitertTargetTest, HasRuntimesReleasesAndAccelerators) {
  const LitertTarget phone = parse_litert_target("android-arm64@litert-2.3.0+nnapi");
  EXPECT_EQ(phone.system, "android");
  EXPECT_EQ(phone.machine, "arm64");
  EXPECT_EQ(phone.runtime, "litert");
  EXPECT_EQ(phone.version, "2.3.0");
  EXPECT_EQ(phone.accelerator, "nnapi");
  EXPECT_EQ(parse_litert_target("android-arm64@tflite-2.9.0").runtime, "tflite");
  EXPECT_EQ(parse_litert_target("").runtime, "litert");
  EXPECT_FALSE(parse_litert_target("host").version.empty());
  EXPECT_EQ(parse_litert_target("linux-x64@litert").version, parse_litert_target("linux-x64").version);
  for (const char* text :
       {"linux-x64@1.30.0", "linux-x64@litert-", "linux-x64@litert-x", "ort-web@litert-2.3.0",
        "linux-x64@litert-2.3.0+cuda", "edgetpu", "linux-x64@litertish-2.3.0"}) {
    const Error error = error_of([&] { parse_litert_target(text); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage) << text;
    EXPECT_THAT(error.what(), HasSubstr("litert-2.3.0")) << text;
  }
  EXPECT_THAT(error_of([] { parse_target("linux-x64@litert-2.3.0"); }).what(),
              HasSubstr("names LiteRT, which runs TFLite models"));
}

constexpr const char* kPages = R"(# a comment
page toy
source: a book
note: small
types: int8
CONV_2D | constant weights, strides up to 3
RELU
)";

TEST(AcceleratorTest, TakesWhatItsPageSays) {
  const auto pages = parse_accelerator_pages(kPages);
  ASSERT_EQ(pages.size(), 1U);
  TfliteBuilder model = network();
  const ProviderHint all = hint_of(pages[0], model.model);
  EXPECT_EQ(all.taken, 2U);
  EXPECT_EQ(all.partitions, 1U);
  EXPECT_EQ(all.largest, 2U);
  EXPECT_EQ(all.source, "a book");
  EXPECT_THAT(all.left, IsEmpty());
  model.graph().operators[0].options.table->set("stride_w", std::int64_t{4});
  const ProviderHint one = hint_of(pages[0], model.model);
  EXPECT_EQ(one.taken, 1U);
  EXPECT_THAT(one.left, ElementsAre("CONV_2D 1"));
  EXPECT_EQ(error_of([] { parse_accelerator_pages("page a\nADD | on sundays\n"); }).code(),
            ErrorCode::kInternal);
}

TEST(AcceleratorTest, FloatsAreNotForThoseOfIntegers) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 4}), y = model.tensor("y", {1, 4});
  model.op(Builtin::kRelu, {x}, {y});
  model.inputs({x}).outputs({y});
  const ProviderHint hint = hint_of(*find_accelerator("edgetpu"), model.model);
  EXPECT_EQ(hint.taken, 0U);
  EXPECT_THAT(hint.note, HasSubstr("quantize the whole model to int8"));
  EXPECT_EQ(hint_of(*find_accelerator("nnapi"), model.model).taken, 1U);
}

// a ─ b ─ a ─ b, where the accelerator takes only b: two partitions.
TEST(AcceleratorTest, PartitionsAreCounted) {
  TfliteBuilder model;
  auto last = model.tensor("x", {1, 4});
  model.inputs({last});
  for (int i = 0; i < 4; ++i) {
    const auto next = model.tensor("v" + std::to_string(i), {1, 4});
    model.op(i % 2 == 0 ? Builtin::kCeil : Builtin::kRelu, {last}, {next});
    last = next;
  }
  model.outputs({last});
  const ProviderHint hint = hint_of(*find_accelerator("nnapi"), model.model);
  EXPECT_EQ(hint.taken, 2U);
  EXPECT_EQ(hint.partitions, 2U);
  EXPECT_EQ(hint.largest, 1U);
  EXPECT_THAT(hint.left, ElementsAre("CEIL 2"));
}

TEST(AcceleratorTest, PagesNameOperatorsThatThereAre) {
  for (const AcceleratorPage& page : accelerator_pages()) {
    EXPECT_FALSE(page.source.empty() || page.types.empty()) << page.name;
    for (const AcceleratorOp& row : page.ops) {
      for (const std::string_view op : row.ops) {
        const auto rows = tflite::op_rows();
        EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                                [&](const tflite::OpInfo& info) { return info.name == op; }))
            << page.name << ": " << op;
      }
    }
  }
}

}  // namespace
}  // namespace ounce::target
