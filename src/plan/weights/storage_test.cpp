// Plans of weights without a model: the planner sees only the weight sites.
#include "plan/weights/storage.h"

#include <gmock/gmock.h>

#include "support/error_of.h"

namespace ounce::plan {
namespace {

using testing::HasSubstr;

void run_here(std::size_t steps, const std::function<void(std::size_t)>& run) {
  for (std::size_t i = 0; i < steps; ++i) run(i);
}

model::WeightSite site(std::vector<std::int64_t> dims, ElementType type = ElementType::kFloat) {
  model::WeightSite made;
  made.name = "w";
  made.type = type;
  made.dims = std::move(dims);
  made.role = Role::kWeight;
  made.channels = ChannelAxes{0, 1};
  made.op_type = "CONV_2D";
  made.is_used = true;
  return made;
}

TensorPlan planned(const model::WeightSite& weight, const Recipe& recipe,
                   const std::optional<StorageOverride>& override = {}, bool can_unpack = true) {
  TensorPlan plan;
  plan.weight = weight;
  if (!choose_half(plan, recipe, override))
    choose_codes(plan, recipe, override ? override->format : recipe.format, can_unpack);
  if (!plan.is_stored()) return plan;
  choose_groups(plan, recipe);
  plan.stored_bytes = stored_bytes(plan);
  keep_if_not_smaller(plan);
  return plan;
}

Recipe recipe_of(Format format) {
  Recipe recipe;
  recipe.format = format;
  return recipe;
}

// Returns the decision after the values are read.
TensorPlan with_values(TensorPlan plan, const std::vector<float>& values) {
  const quant::FloatSource floats(
      std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)),
      quant::FloatType::kFloat32);
  fit_to_values(plan, floats, read_values(plan, floats, run_here));
  return plan;
}

TEST(WeightStorage, AFormatDecidesEncodingAndGroups) {
  EXPECT_EQ(text_of(planned(site({64, 32}), recipe_of(Format::kW8))),
            "w float32[64,32] -> int8 channel 0 fold: weight of CONV_2D");
  EXPECT_EQ(text_of(planned(site({64, 32}), recipe_of(Format::kW16))),
            "w float32[64,32] -> float16 tensor fold: weight of CONV_2D, as 16-bit floats");
  EXPECT_EQ(text_of(planned(site({64, 64}), recipe_of(Format::kW4))),
            "w float32[64,64] -> int4 block 32 fold: weight of CONV_2D");
}

TEST(WeightStorage, BlocksThatDoNotFitBecomeChannels) {
  const TensorPlan plan = planned(site({64, 20}), recipe_of(Format::kW4));
  EXPECT_EQ(plan.granularity_text(), "channel 0");
  EXPECT_EQ(plan.layout.groups(), 64U);
}

TEST(WeightStorage, WhatAFileCannotUnpackTakesTheFallback) {
  EXPECT_EQ(planned(site({64, 64}), recipe_of(Format::kW4), {}, false).encoding, Encoding::kLinear8);
}

TEST(WeightStorage, AnOverrideOfANodeSaysSo) {
  const TensorPlan asked =
      planned(site({64, 64}), recipe_of(Format::kW8), StorageOverride{Format::kW4, true});
  EXPECT_EQ(asked.encoding, Encoding::kLinear4);
  EXPECT_THAT(asked.reason, HasSubstr("as requested for its node"));
  const TensorPlan shared =
      planned(site({64, 64}), recipe_of(Format::kW8), StorageOverride{Format::kW16, false});
  EXPECT_THAT(shared.reason, HasSubstr("because another of its nodes needs it"));
  EXPECT_EQ(why_keep(site({64, 64}), recipe_of(Format::kW8), StorageOverride{Format::kFp32, true}),
            "kept in FP32, as requested for its node");
}

TEST(WeightStorage, HalvesAreStoredInFewBitsAndNeverInHalves) {
  EXPECT_EQ(planned(site({64, 64}, ElementType::kFloat16), recipe_of(Format::kW8)).stored_bytes,
            64U * 64 + 64 * 4);
  const TensorPlan kept = planned(site({64, 64}, ElementType::kFloat16), recipe_of(Format::kW16));
  EXPECT_FALSE(kept.is_stored());
  EXPECT_EQ(kept.reason, "already has 16 bits");
}

TEST(WeightStorage, ReasonsToLeaveAWeightAlone) {
  const Recipe recipe = recipe_of(Format::kW8);
  model::WeightSite weight = site({64, 64});
  EXPECT_EQ(why_keep(weight, recipe, {}), "");
  EXPECT_EQ(why_keep(site({4, 4}), recipe, {}), "smaller than 1024 bytes");
  weight.is_output = true;
  EXPECT_EQ(why_keep(weight, recipe, {}), "is an output of the graph");
  weight.feeds_quantized_op = true;
  EXPECT_EQ(why_keep(weight, recipe, {}), "belongs to an op that is already quantized");
  weight.is_used = false;
  EXPECT_EQ(why_keep(weight, recipe, {}), "is unused");
  weight.role = Role::kOther;
  EXPECT_EQ(why_all_bits(weight, Format::kW8), "feeds CONV_2D, which may need full precision");
  EXPECT_EQ(why_all_bits(weight, Format::kW16), "");
}

TEST(WeightStorage, ValuesThatNoCodeCanHoldAreKept) {
  const TensorPlan w8 = planned(site({64, 32}), recipe_of(Format::kW8));
  EXPECT_EQ(with_values(w8, std::vector<float>(2048, 0.0F)).reason, "all values are zero");
  EXPECT_THAT(with_values(w8, std::vector<float>(2048, 1e-38F)).reason, HasSubstr("too small to quantize"));
  EXPECT_TRUE(with_values(w8, std::vector<float>(2048, 1.0F)).is_stored());
  TensorPlan required = w8;
  required.is_required = true;
  EXPECT_TRUE(with_values(required, std::vector<float>(2048, 0.0F)).is_stored());
  const TensorPlan w16 = planned(site({64, 32}), recipe_of(Format::kW16));
  EXPECT_THAT(with_values(w16, std::vector<float>(2048, 1e6F)).reason, HasSubstr("overflows 16-bit floats"));
}

TEST(WeightStorage, ValuesThatAreNoNumbersAreRefusedByName) {
  std::vector<float> values(2048, 1.0F);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  const TensorPlan plan = planned(site({64, 32}), recipe_of(Format::kW8));
  const Error error = test::error_of([&] { with_values(plan, values); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("tensor 'w'"));
}

TEST(WeightStorage, TheSmallestBecomeHalvesWhileTheBudgetLasts) {
  const auto made = [](std::int64_t rows) {
    return with_values(planned(site({rows, 32}), recipe_of(Format::kW8)),
                       std::vector<float>(static_cast<std::size_t>(rows) * 32, 1.0F));
  };
  std::vector<TensorPlan> plans = {made(64), made(16), made(32)};
  std::vector<TensorPlan*> all;
  for (TensorPlan& plan : plans) all.push_back(&plan);
  const std::uint64_t cost = 16 * 32 * 2 - plans[1].stored_bytes;
  promote_smallest(all, 10'000, static_cast<double>(cost) / 10'000);
  EXPECT_EQ(plans[1].encoding, Encoding::kFloat16);
  EXPECT_EQ(plans[0].encoding, Encoding::kLinear8);
  EXPECT_EQ(plans[2].encoding, Encoding::kLinear8);
}

TEST(NamedFormats, AreFoundByValueBeforeName) {
  Recipe recipe;
  recipe.nodes = {{"a", Format::kW4}, {"b", Format::kW16}};
  const std::vector<NodeNames> nodes = {{"a", "b"}, {"c", "a"}, {"d", "b"}};
  const NamedFormats found = find_named_formats(recipe, nodes);
  EXPECT_EQ(found.formats[0], Format::kW4);
  EXPECT_EQ(found.formats[1], std::nullopt);  // `a` is not a node output
  EXPECT_EQ(found.formats[2], Format::kW16);
  EXPECT_FALSE(found.has_unknown);
  recipe.nodes = {{"conv1/outt", Format::kW4}};
  const NamedFormats missed = find_named_formats(recipe, std::vector<NodeNames>{{"conv1/out", ""}});
  EXPECT_TRUE(missed.has_unknown);
  EXPECT_EQ(missed.guess, "conv1/out");
}

}  // namespace
}  // namespace ounce::plan
