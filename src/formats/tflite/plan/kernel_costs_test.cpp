#include "formats/tflite/plan/kernel_costs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tflite_builder.h"

namespace ounce::tflite {
namespace {

const OpInfo& kernel_row(Builtin code) { return info(static_cast<std::int32_t>(code)); }

constexpr KernelKind kKinds[] = {KernelKind::kFp32, KernelKind::kInt8, KernelKind::kHybrid};

// Expects an estimate within the error that the script states for 90 % of the operators.
void expect_roughly(double estimate, double measured) {
  EXPECT_LT(estimate, 1.6 * measured);
  EXPECT_GT(estimate, measured / 1.6);
}

TEST(TfliteKernelCosts, AreThoseThatWereMeasured) {
  const Work wide{.form = KernelForm::kPointwise,
                  .positions = 400,
                  .inputs = 512,
                  .outputs = 80,
                  .values_in = 204800,
                  .values_out = 32000,
                  .weights = 40960};
  expect_roughly(cost_ns(kernel_row(Builtin::kConv2D), KernelKind::kFp32, wide), 160918);
  expect_roughly(cost_ns(kernel_row(Builtin::kConv2D), KernelKind::kInt8, wide), 34001);
  expect_roughly(cost_ns(kernel_row(Builtin::kConv2D), KernelKind::kHybrid, wide), 70276);
  const Work depthwise{.positions = 784,
                       .inputs = 1,
                       .outputs = 48,
                       .kernel_size = 9,
                       .values_in = 37632,
                       .values_out = 37632,
                       .weights = 432};
  expect_roughly(cost_ns(kernel_row(Builtin::kDepthwiseConv2D), KernelKind::kFp32, depthwise), 8191);
  expect_roughly(cost_ns(kernel_row(Builtin::kDepthwiseConv2D), KernelKind::kInt8, depthwise), 8667);
  expect_roughly(cost_ns(kernel_row(Builtin::kDepthwiseConv2D), KernelKind::kHybrid, depthwise), 55995);
  const Work values{.values_in = 25600, .values_out = 25600};
  expect_roughly(cost_ns(kernel_row(Builtin::kRelu), KernelKind::kFp32, values), 1046);
  expect_roughly(cost_ns(kernel_row(Builtin::kRelu), KernelKind::kInt8, values), 66319);
}

TEST(TfliteKernelCosts, GrowWithTheWork) {
  for (const OpInfo& op : op_rows()) {
    for (const KernelKind kind : kKinds) {
      for (const KernelForm form : {KernelForm::kPlain, KernelForm::kPointwise, KernelForm::kWide,
                                    KernelForm::kComputed, KernelForm::kRows}) {
        double before = 0;
        for (double size = 1; size < 4096; size *= 2) {
          const Work work{.form = form,
                          .positions = size,
                          .inputs = size,
                          .outputs = size,
                          .kernel_size = size,
                          .values_in = size * size,
                          .values_out = size * size,
                          .weights = size * size};
          const double cost = cost_ns(op, kind, work);
          ASSERT_GE(cost, before) << op.name << ' ' << size;
          ASSERT_FALSE(std::isnan(cost)) << op.name;
          before = cost;
        }
      }
    }
  }
}

TEST(TfliteKernelCosts, KindsWithoutAKernelAreNeverChosen) {
  const Work work{.values_in = 64, .values_out = 64};
  EXPECT_TRUE(std::isinf(cost_ns(kernel_row(Builtin::kHardSwish), KernelKind::kHybrid, work)));
  EXPECT_TRUE(std::isinf(cost_ns(kernel_row(Builtin::kCustom), KernelKind::kInt8, work)));
  EXPECT_FALSE(std::isinf(cost_ns(kernel_row(Builtin::kCustom), KernelKind::kFp32, work)));
}

TEST(TfliteKernelCosts, KnowWhatXnnpackRuns) {
  EXPECT_TRUE(was_in_xnnpack(kernel_row(Builtin::kPrelu), KernelKind::kFp32, KernelForm::kPlain));
  EXPECT_FALSE(was_in_xnnpack(kernel_row(Builtin::kPrelu), KernelKind::kInt8, KernelForm::kPlain));
  EXPECT_TRUE(was_in_xnnpack(kernel_row(Builtin::kConv2D), KernelKind::kHybrid, KernelForm::kPointwise));
  EXPECT_FALSE(
      was_in_xnnpack(kernel_row(Builtin::kDepthwiseConv2D), KernelKind::kHybrid, KernelForm::kPlain));
}

TEST(TfliteWork, OfAConvolution) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 8, 8, 3}), y = model.tensor("y", {1, 4, 4, 5});
  const auto w = model.weights("w", {5, 3, 3, 3}, std::vector<float>(135, 1));
  model.op(Builtin::kConv2D, {x, w, -1}, {y}, "Conv2DOptions");
  model.options().set("stride_h", std::int64_t{2});
  model.options().set("stride_w", std::int64_t{2});
  const auto work = work_of(model.model, model.graph(), model.graph().operators[0]);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->form, KernelForm::kPlain);
  EXPECT_EQ(work->positions, 16);
  EXPECT_EQ(work->inputs, 3);
  EXPECT_EQ(work->outputs, 5);
  EXPECT_EQ(work->kernel_size, 9);
  EXPECT_EQ(work->values_in, 192);
  EXPECT_EQ(work->values_out, 80);
  EXPECT_EQ(work->weights, 135);
}

TEST(TfliteWork, OfATransposedConvolution) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 4, 1, 2}), y = model.tensor("y", {1, 16, 1, 3});
  const auto w = model.weights("w", {3, 8, 1, 2}, std::vector<float>(48, 1));
  const auto shape = model.integers("shape", {4}, {1, 16, 1, 3});
  model.op(Builtin::kTransposeConv, {shape, w, x}, {y}, "TransposeConvOptions");
  model.options().set("stride_h", std::int64_t{4});
  model.options().set("stride_w", std::int64_t{1});
  const auto work = work_of(model.model, model.graph(), model.graph().operators[0]);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->positions, 16);
  EXPECT_EQ(work->kernel_size, 2);
  EXPECT_EQ(work->values_in, 8);
}

TEST(TfliteWork, OfAProductOfTwoComputedValues) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {2, 4, 8}), z = model.tensor("z", {2, 6, 8}),
             y = model.tensor("y", {2, 4, 6});
  model.op(Builtin::kBatchMatmul, {x, z}, {y}, "BatchMatMulOptions");
  model.options().set("adj_y", std::int64_t{1});
  const auto work = work_of(model.model, model.graph(), model.graph().operators[0]);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->form, KernelForm::kComputed);
  EXPECT_EQ(work->positions, 8);
  EXPECT_EQ(work->inputs, 8);
  EXPECT_EQ(work->outputs, 6);
  EXPECT_EQ(work->values_in, 64);
  EXPECT_EQ(work->weights, 96);
}

TEST(TfliteWork, OfAReductionOfRows) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 4, 8}), y = model.tensor("y", {1, 4});
  const auto axes = model.integers("axes", {1}, {-1});
  model.op(Builtin::kMean, {x, axes}, {y}, "ReducerOptions");
  const auto work = work_of(model.model, model.graph(), model.graph().operators[0]);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->form, KernelForm::kRows);
  EXPECT_EQ(work->values_in, 32);
}

TEST(TfliteWork, IsUnknownForShapesThatAre) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {-1, 8}), y = model.tensor("y", {-1, 8});
  model.op(Builtin::kRelu, {x}, {y});
  EXPECT_FALSE(work_of(model.model, model.graph(), model.graph().operators[0]));
  TfliteBuilder hostile;  // options of another operator, and no rank
  const auto a = hostile.tensor("a", {}), b = hostile.tensor("b", {}), w = hostile.tensor("w", {});
  hostile.op(Builtin::kConv2D, {a, w, -1}, {b}, "AddOptions");
  EXPECT_FALSE(work_of(hostile.model, hostile.graph(), hostile.graph().operators[0]));
}

}  // namespace
}  // namespace ounce::tflite
