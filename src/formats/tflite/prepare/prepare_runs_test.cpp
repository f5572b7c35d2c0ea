// Models run in LiteRT before and after they are prepared.

#include <gmock/gmock.h>

#include <cmath>

#include "data/tensor.h"
#include "formats/tflite/prepare/prepare.h"
#include "fuzz/sample_tflites.h"
#include "runtime/litert/session.h"
#include "support/litert.h"
#include "support/tensor_of.h"
#include "support/tflite_builder.h"
#include "support/tflite_text.h"

namespace ounce::tflite {
namespace {

using runtime::litert::Kernels;

std::vector<float> wave(std::size_t count, double step = 0.7) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(std::sin(static_cast<double>(i) * step) * 2);
  return values;
}

struct TflitePrepareRuns : test::LitertTest {
  std::vector<std::vector<float>> run(const Model& model, Kernels kernels) {
    const auto path = folder / "model.tflite";
    ThreadPool pool(1);
    write_temporary(model, path, pool);
    runtime::litert::Session session(runtime::litert::Library::open(GetParam()), path, {.kernels = kernels});
    std::vector<data::Tensor> inputs;
    for (const auto& input : session.inputs()) {
      data::Dims dims;
      std::size_t count = 1;
      for (const auto& dim : input.shape) {
        dims.push_back(dim.value);
        count *= static_cast<std::size_t>(dim.value);
      }
      inputs.push_back(data::test::tensor_of<float>(dims, wave(count, 0.9)));
    }
    session.bind(std::vector<runtime::litert::TensorView>(inputs.begin(), inputs.end()));
    session.run();
    std::vector<std::vector<float>> outputs;
    for (const auto& output : session.results()) outputs.push_back(data::test::numbers_of<float>(output));
    return outputs;
  }

  // Equal to the bit, or where a pass computes in another order, within this share of the largest value.
  void expect_same(const TfliteBuilder& model, double tolerance = 0) { expect_same(model.model, tolerance); }
  void expect_same(const Model& model, double tolerance) {
    Model prepared = model;
    EXPECT_FALSE(prepare(prepared, options).empty());
    for (const Kernels kernels : {Kernels::kXnnpack, Kernels::kBuiltIn}) {
      const auto before = run(model, kernels), after = run(prepared, kernels);
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        ASSERT_EQ(before[i].size(), after[i].size());
        double largest = 0;
        for (const float value : before[i]) largest = std::max(largest, std::abs(double{value}));
        EXPECT_GT(largest, 0);
        for (std::size_t j = 0; j < before[i].size(); ++j)
          EXPECT_NEAR(before[i][j], after[i][j], tolerance * largest) << text_of(prepared);
      }
    }
  }

  PrepareOptions options{.static_int8 = true};
};
INSTANTIATE_TEST_SUITE_P(Versions, TflitePrepareRuns, testing::ValuesIn(test::litert_versions()),
                         test::version_name);

TEST_P(TflitePrepareRuns, FusedActivationsGiveTheSameValues) {
  for (const Builtin activation : {Builtin::kRelu, Builtin::kRelu6, Builtin::kReluN1To1}) {
    TfliteBuilder model;
    const auto x = model.tensor("x", {1, 4, 4, 2}), c = model.tensor("c", {1, 4, 4, 3}),
               d = model.tensor("d", {1, 4, 4, 3}), t = model.tensor("t", {1, 8, 8, 3}),
               u = model.tensor("u", {1, 8, 8, 3}), p = model.tensor("p", {1, 4, 4, 3}),
               y = model.tensor("y", {1, 4, 4, 3});
    const auto w = model.weights("w", {3, 3, 3, 2}, wave(54)), b = model.weights("b", {3}, {0.5F, -1, 0});
    const auto v = model.weights("v", {3, 2, 2, 3}, wave(36)),
               shape = model.integers("shape", {4}, {1, 8, 8, 3});
    model.op(Builtin::kConv2D, {x, w, b}, {c}, "Conv2DOptions");
    for (const char* field : {"stride_w", "stride_h"}) model.options().set(field, std::int64_t{1});
    model.op(activation, {c}, {d});
    model.op(Builtin::kTransposeConv, {shape, v, d}, {t}, "TransposeConvOptions", 1);
    for (const char* field : {"stride_w", "stride_h"}) model.options().set(field, std::int64_t{2});
    model.op(activation, {t}, {u});
    model.op(Builtin::kAveragePool2D, {u}, {p}, "Pool2DOptions");
    for (const char* field : {"stride_w", "stride_h", "filter_width", "filter_height"})
      model.options().set(field, std::int64_t{2});
    model.op(Builtin::kSub, {p, c}, {y}, "SubOptions");
    model.inputs({x}).outputs({y});
    expect_same(model);
  }
}

TEST_P(TflitePrepareRuns, FoldedHalvesGiveTheSameValues) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 2}), y = model.tensor("y", {1, 2}),
             h = model.constant("h", {2, 2}, TensorType::kFloat16, {"\x00\x3c\x00\xc0\x00\x38\x55\x35", 8}),
             w = model.tensor("w", {2, 2});
  model.op(Builtin::kDequantize, {h}, {w}, "", 3);
  model.op(Builtin::kFullyConnected, {x, w, -1}, {y}, "FullyConnectedOptions");
  model.inputs({x}).outputs({y});
  expect_same(model);
}

TEST_P(TflitePrepareRuns, AffineOperatorsInWeightsGiveTheSameValues) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 4, 4, 2}), c = model.tensor("c", {1, 4, 4, 3}),
             s = model.tensor("s", {1, 4, 4, 3}), t = model.tensor("t", {1, 4, 4, 3}),
             d = model.tensor("d", {1, 4, 4, 3}), y = model.tensor("y", {1, 4, 4, 3});
  model.op(Builtin::kConv2D,
           {x, model.weights("w", {3, 3, 3, 2}, wave(54)), model.weights("n", {3}, {0, 0, 1})}, {c},
           "Conv2DOptions");
  for (const char* field : {"stride_w", "stride_h"}) model.options().set(field, std::int64_t{1});
  model.op(Builtin::kMul, {c, model.weights("f", {3}, {0.5F, -3, 1.25F})}, {s}, "MulOptions");
  model.op(Builtin::kAdd, {s, model.weights("a", {3}, {1, 2, -3})}, {t}, "AddOptions");
  model.op(Builtin::kDepthwiseConv2D,
           {t, model.weights("v", {1, 3, 3, 3}, wave(27)), model.weights("b", {3}, {1, 2, 3})}, {d},
           "DepthwiseConv2DOptions");
  for (const char* field : {"stride_w", "stride_h", "depth_multiplier"})
    model.options().set(field, std::int64_t{1});
  model.op(Builtin::kSub, {model.weights("from", {}, {4}), d}, {y}, "SubOptions");
  model.options().set("fused_activation_function", std::int64_t{1});
  model.inputs({x}).outputs({y});
  expect_same(model, 1e-6);
}

TEST_P(TflitePrepareRuns, MatrixProductsWithAConstantGiveTheSameValues) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {2, 3, 5}), p = model.tensor("p", {2, 3, 4}),
             a = model.tensor("a", {2, 3, 4}), y = model.tensor("y", {2, 3, 6});
  model.op(Builtin::kBatchMatmul, {x, model.weights("w", {5, 4}, wave(20))}, {p}, "BatchMatMulOptions");
  model.op(Builtin::kAdd, {model.weights("b", {4}, wave(4)), p}, {a}, "AddOptions");
  model.op(Builtin::kBatchMatmul, {a, model.weights("v", {6, 4}, wave(24))}, {y}, "BatchMatMulOptions");
  model.options().set("adj_y", std::int64_t{1});
  model.inputs({x}).outputs({y});
  expect_same(model, 1e-6);
}

TEST_P(TflitePrepareRuns, FormsForIntegersGiveTheSameValues) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 3, 4, 2}), m = model.tensor("m", {1, 3, 4, 2}),
             six = model.tensor("six", {1, 3, 4, 2}), l = model.tensor("l", {1, 3, 4, 2}),
             d = model.tensor("d", {1, 3, 4, 2}), e = model.tensor("e", {1, 1, 3, 4, 2}),
             s = model.tensor("s", {3, 4, 2}), p = model.tensor("p", {1, 1, 1, 2}),
             y = model.tensor("y", {1, 3, 4, 2});
  model.op(Builtin::kPrelu, {x, model.weights("slope", {1, 1, 2}, {0.25F, 0.25F})}, {l});
  model.op(Builtin::kDiv, {l, model.weights("by", {2}, {3, -7})}, {d}, "DivOptions");
  model.op(Builtin::kExpandDims, {d, model.integers("axis", {1}, {0})}, {e}, "ExpandDimsOptions");
  model.op(Builtin::kSqueeze, {e}, {s}, "SqueezeOptions");
  model.op(Builtin::kMaximum, {d, model.weights("zero", {}, {0})}, {m}, "MaximumMinimumOptions");
  model.op(Builtin::kMinimum, {m, model.weights("most", {}, {6})}, {six}, "MaximumMinimumOptions");
  model.op(Builtin::kAveragePool2D, {d}, {p}, "Pool2DOptions");
  model.options().set("filter_height", std::int64_t{3});
  model.options().set("filter_width", std::int64_t{4});
  for (const char* field : {"stride_w", "stride_h", "padding"}) model.options().set(field, std::int64_t{1});
  model.op(Builtin::kMul, {six, p}, {y}, "MulOptions");
  model.inputs({x}).outputs({y, s});
  expect_same(model, 1e-6);
}

TEST_P(TflitePrepareRuns, ASampleWithWorkForEachPassGivesTheSameValues) {
  expect_same(unprepared_tflite(), 1e-6);
}

TEST_P(TflitePrepareRuns, LayoutsThatCancelGiveTheSameValues) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 2, 5, 3}), t = model.tensor("t", {1, 3, 2, 5}),
             r = model.tensor("r", {3, 2, 5}), l = model.tensor("l", {3, 2, 5}),
             s = model.tensor("s", {3, 2, 5}), back = model.tensor("back", {1, 3, 2, 5}),
             c = model.tensor("c", {1, 2, 5, 3}), y = model.tensor("y", {1, 2, 5, 3}),
             m = model.tensor("m", {3, 5}), z = model.tensor("z", {3, 5});
  model.op(Builtin::kTranspose, {x, model.integers("first", {4}, {0, 3, 1, 2})}, {t}, "TransposeOptions");
  model.op(Builtin::kReshape, {t, model.integers("shape", {3}, {3, 2, 5})}, {r}, "ReshapeOptions");
  model.op(Builtin::kLeakyRelu, {r}, {l}, "LeakyReluOptions");
  model.options().set("alpha", 0.25F);
  model.op(Builtin::kAdd, {l, r}, {s}, "AddOptions");
  model.op(Builtin::kReshape, {s, model.integers("four", {4}, {1, 3, 2, 5})}, {back}, "ReshapeOptions");
  model.op(Builtin::kTranspose, {back, model.integers("last", {4}, {0, 2, 3, 1})}, {c}, "TransposeOptions");
  model.op(Builtin::kSoftmax, {c}, {y}, "SoftmaxOptions");
  model.options().set("beta", 1.0F);
  model.op(Builtin::kMean, {s, model.integers("axes", {1}, {1})}, {m}, "ReducerOptions");
  model.op(Builtin::kSoftmax, {m}, {z}, "SoftmaxOptions");
  model.options().set("beta", 1.0F);
  model.inputs({x}).outputs({y, z});
  expect_same(model, 1e-6);
}

TEST_P(TflitePrepareRuns, SamePaddingGivesTheSameValues) {
  for (const std::int32_t stride : {1, 2, 3}) {
    // Of 7 values by a kernel of 5.
    const std::int32_t small = (7 + stride - 1) / stride, total = (small - 1) * stride + 5 - 7,
                       before = total / 2;
    TfliteBuilder model;
    const auto x = model.tensor("x", {1, 7, 7, 2}), p = model.tensor("p", {1, 7 + total, 7 + total, 2}),
               c = model.tensor("c", {1, small, small, 3}),
               t = model.tensor("t", {1, (small - 1) * stride + 5, (small - 1) * stride + 5, 2}),
               y = model.tensor("y", {1, 7, 7, 2});
    const std::int32_t whole = (small - 1) * stride + 5;
    model.op(
        Builtin::kPad,
        {x, model.integers("amounts", {4, 2}, {0, 0, before, total - before, before, total - before, 0, 0})},
        {p}, "PadOptions");
    model.op(Builtin::kConv2D,
             {p, model.weights("w", {3, 5, 5, 2}, wave(150)), model.weights("n", {3}, {0, 0, 1})}, {c},
             "Conv2DOptions");
    for (const char* field : {"stride_w", "stride_h"}) model.options().set(field, std::int64_t{stride});
    model.options().set("padding", std::int64_t{1});
    model.op(
        Builtin::kTransposeConv,
        {model.integers("shape", {4}, {1, whole, whole, 2}), model.weights("v", {2, 5, 5, 3}, wave(150)), c},
        {t}, "TransposeConvOptions");
    for (const char* field : {"stride_w", "stride_h"}) model.options().set(field, std::int64_t{stride});
    model.options().set("padding", std::int64_t{1});
    model.op(
        Builtin::kSlice,
        {t, model.integers("begin", {4}, {0, before, before, 0}), model.integers("size", {4}, {1, 7, 7, 2})},
        {y}, "SliceOptions");
    model.inputs({x}).outputs({y});
    expect_same(model, 1e-6);
  }
}

}  // namespace
}  // namespace ounce::tflite
