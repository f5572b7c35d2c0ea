// Weights of all bit widths: ordinary ops in the runtime must unpack exactly what was packed.
#include <gmock/gmock.h>

#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"

namespace ounce::passes {
namespace {

using ounce::test::kFloat;
using ounce::test::ModelBuilder;

// 319 weights: not a multiple of the number of parts for any bit width, and with odd rows.
constexpr std::int64_t kOddRows = 29, kOddColumns = 11;

std::string product() {
  ModelBuilder model(13, 8);
  model.input("x", kFloat, {1, kOddRows}).output("y", kFloat, {1, kOddColumns});
  model.initializer("w", {kOddRows, kOddColumns}, test::noise({kOddRows, kOddColumns}));
  model.node("MatMul", {"x", "w"}, {"y"});
  return model.bytes();
}

TEST(PackedBits, EveryNumberOfBitsIsUnpackedByTheRuntime) {
  const std::string bytes = product();
  const onnx::Model source = onnx::read_model_from_memory(bytes, "model");
  const graph::Index index = graph::validate(source);
  ThreadPool pool(1);
  Recipe recipe;
  recipe.format = Format::kW4;
  recipe.granularity.kind = GranularityKind::kChannel;
  recipe.min_bytes = 1;
  for (unsigned bits = 3; bits < 8; ++bits) {
    for (const bool is_asymmetric : {false, true}) {
      SCOPED_TRACE(bits);
      plan::Plan plan = plan::make_plan(source, index, recipe, pool);
      ASSERT_EQ(plan.decisions.size(), 1U);
      plan::Decision& decision = plan.decisions[0];
      ASSERT_EQ(decision.encoding, plan::Encoding::kLinear4);
      decision.encoding.bits = static_cast<std::uint8_t>(bits);
      decision.format = quant::linear_format(bits, is_asymmetric);
      onnx::Model stored = onnx::read_model_from_memory(bytes, "model");
      Editors editors(stored, index);
      store_weights(editors, source, index, plan);
      editors.finish();
      test::expect_same_outputs(bytes, stored, 3.0 / (1U << bits));
    }
  }
}

}  // namespace
}  // namespace ounce::passes
