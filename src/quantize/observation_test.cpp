// Calibrated ranges of all data and of every second batch.
#include "quantize/observation.h"

#include <gtest/gtest.h>

#include "formats/onnx/file/reader.h"
#include "quantize/onnx_emitter.h"
#include "quantize/prepared_model.h"
#include "support/commands_example.h"

namespace ounce::quantization {
namespace {

CalibrateOptions clips(std::uint64_t samples) {
  CalibrateOptions options;
  options.data.path = test::kCalibration;
  options.data.contract = test::sound();
  options.data.samples = samples;
  return options;
}

Observation observed(const CalibrateOptions& options) {
  return observe_activations(expose(onnx::read_model(test::kExample), test::kExample, Watching::kForIntegers),
                             test::kExample, options);
}

TEST(Observation, HalfOfTheDataIsSeenAloneToo) {
  const Observation whole = observed(clips(16));
  ASSERT_TRUE(whole.half);
  EXPECT_EQ(whole.ranges.samples, 16U);
  EXPECT_EQ(whole.half->samples, 8U);

  CalibrateOptions part = clips(16);
  part.shards = 2;
  Observation even = observed(part);
  part.shard = 1;
  EXPECT_EQ(calibration::to_json(*whole.half), calibration::to_json(even.ranges));
  even.ranges.add(observed(part).ranges, "the other half");
  EXPECT_EQ(calibration::to_json(whole.ranges), calibration::to_json(even.ranges));
}

TEST(Observation, HalvesOfLittleDataSayNothing) { EXPECT_FALSE(observed(clips(15)).half); }

TEST(Observation, AModelSeenByHalfIsTheSameModel) {
  QuantizeOptions options;
  options.recipe.format = Format::kInt8;
  options.trial.data = clips(16).data;
  const std::shared_ptr<const PreparedModel> whole = prepare_model(test::kExample, options),
                                             half = whole->fit_split();
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->ranges()->samples, 8U);
  EXPECT_EQ(half->model().proto->graph->nodes.size(), whole->model().proto->graph->nodes.size());
  EXPECT_EQ(half->fit_split(), nullptr);
}

}  // namespace
}  // namespace ounce::quantization
