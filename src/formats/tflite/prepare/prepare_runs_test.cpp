// Models run in LiteRT before and after they are prepared.

#include <gmock/gmock.h>

#include <cmath>

#include "data/tensor.h"
#include "formats/tflite/prepare/prepare.h"
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

struct PrepareRuns : test::LitertTest {
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
  void expect_same(const TfliteBuilder& model, double tolerance = 0) {
    Model prepared = model.model;
    EXPECT_FALSE(prepare(prepared, options).empty());
    for (const Kernels kernels : {Kernels::kXnnpack, Kernels::kBuiltIn}) {
      const auto before = run(model.model, kernels), after = run(prepared, kernels);
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

  PrepareOptions options;
};
INSTANTIATE_TEST_SUITE_P(Versions, PrepareRuns, testing::ValuesIn(test::litert_versions()),
                         test::version_name);

TEST_P(PrepareRuns, FusedActivationsGiveTheSameValues) {
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

TEST_P(PrepareRuns, FoldedHalvesGiveTheSameValues) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 2}), y = model.tensor("y", {1, 2}),
             h = model.constant("h", {2, 2}, TensorType::kFloat16, {"\x00\x3c\x00\xc0\x00\x38\x55\x35", 8}),
             w = model.tensor("w", {2, 2});
  model.op(Builtin::kDequantize, {h}, {w}, "", 3);
  model.op(Builtin::kFullyConnected, {x, w, -1}, {y}, "FullyConnectedOptions");
  model.inputs({x}).outputs({y});
  expect_same(model);
}

}  // namespace
}  // namespace ounce::tflite
