// Tests verify(), bench(), calibrate() and contracts on the example model, in all installed versions of ONNX
// Runtime.
#include <gmock/gmock.h>
#include <ounce/bench.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "runtime/ort/library.h"
#include "support/commands_example.h"
#include "support/error_of.h"
#include "support/runtime_versions.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using test::error_of;
using test::kClips;
using test::kExample;
using testing::HasSubstr;
using testing::StartsWith;

// One second of 16-bit sound at 8 kHz.
Contract sound_of_a_second() {
  Contract contract;
  InputContract& audio = contract.inputs["audio"];
  audio.kind = InputKind::kAudio;
  audio.rescale_factor = 1.0 / 32768;
  audio.length = 8000;
  return contract;
}

struct RunTest : testing::TestWithParam<std::filesystem::path> {
  RunTest() {
    verify_options.runtime.library = GetParam().string();
    verify_options.data.path = kClips;
    verify_options.data.labels = "label";
    verify_options.data.contract = sound_of_a_second();
  }
  std::filesystem::path small() {
    QuantizeOptions options;
    options.trial.is_wanted = false;
    quantize(kExample, folder / "small.onnx", options);
    return folder / "small.onnx";
  }
  test::TemporaryFolder folder;
  VerifyOptions verify_options;
};

TEST_P(RunTest, TheModelAgainstItselfHasThePublishedAccuracyAndNoDifference) {
  const VerifyResult result = verify(kExample, kExample, verify_options);
  EXPECT_TRUE(result.passed) << result.verdict;
  EXPECT_EQ(result.samples, 256U);
  EXPECT_EQ(result.max_abs_diff, 0);
  ASSERT_EQ(result.metrics.size(), 2U);
  EXPECT_EQ(result.metrics[0].name, "top1_accuracy");
  EXPECT_EQ(result.metrics[0].reference, 235.0 / 256);  // .918
  EXPECT_EQ(result.metrics[0].drop, 0);
  EXPECT_EQ(result.metrics[0].drop_high, 0);
  EXPECT_THAT(result.verdict, StartsWith("passed: "));
}

TEST_P(RunTest, EightBitsPassTheGateAndFourBitsAreTold) {
  verify_options.gates.max_drop = 0.01;
  const VerifyResult result = verify(kExample, small(), verify_options);
  EXPECT_TRUE(result.passed) << result.verdict;
  EXPECT_GT(result.outputs.at(0).sqnr_db, 40);
  EXPECT_GE(result.edge_cases.size(), 8U);
  verify_options.gates = {};
  verify_options.gates.min_sqnr = 60;
  const VerifyResult strict = verify(kExample, folder / "small.onnx", verify_options);
  EXPECT_FALSE(strict.passed);
  EXPECT_THAT(strict.verdict, HasSubstr("60 dB (`gates.min_sqnr`)"));
  EXPECT_EQ(strict.worst.size(), 5U);
}

TEST_P(RunTest, AnOutputThatThereIsNotIsRefusedBeforeAnythingIsDone) {
  verify_options.outputs = {"logits", "probabilities"};
  verify_options.data.path = "missing.npz";
  const Error error = error_of([&] { verify(kExample, folder / "missing.onnx", verify_options); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("has no output 'probabilities'. Outputs: logits"));
}

TEST_P(RunTest, BatchesAndProcessesOfTheirOwnGiveTheSameAnswer) {
  verify_options.data.samples = 32;
  verify_options.edge_cases = false;
  const VerifyResult plain = verify(kExample, small(), verify_options);
  verify_options.data.batch = 8;
  const VerifyResult batched = verify(kExample, folder / "small.onnx", verify_options);
  verify_options.runtime.isolate = Isolation{};
  const VerifyResult isolated = verify(kExample, folder / "small.onnx", verify_options);
  EXPECT_EQ(batched.samples, 32U);
  EXPECT_NEAR(batched.outputs[0].sqnr_db, plain.outputs[0].sqnr_db, 0.1);
  EXPECT_EQ(isolated.outputs[0].sqnr_db, batched.outputs[0].sqnr_db);
  EXPECT_EQ(batched.metrics[0].reference, plain.metrics[0].reference);
  EXPECT_EQ(isolated.metrics[0].candidate, batched.metrics[0].candidate);
}

TEST_P(RunTest, AContractInTheModelIsFollowedKeptAndChecked) {
  RuntimeOptions runtime;
  runtime.library = GetParam().string();
  DataOptions data;
  data.path = kClips;
  const Contract written = set_contract(kExample, folder / "with.onnx", sound_of_a_second(), &data, runtime);
  ASSERT_TRUE(written.golden);
  ASSERT_TRUE(written.inputs.at("audio").observed);
  QuantizeOptions options;
  options.trial.is_wanted = false;
  quantize(folder / "with.onnx", folder / "small.onnx", options);
  EXPECT_EQ(to_json(contract_of(folder / "small.onnx").value()), to_json(written));
  // The contract in the model replaces the option.
  verify_options.data.contract.reset();
  EXPECT_TRUE(verify(folder / "with.onnx", folder / "small.onnx", verify_options).passed);
  const ContractCheck check = check_contract(folder / "small.onnx", data, runtime);
  EXPECT_TRUE(check.passed);
  EXPECT_THAT(check.findings.at(1), HasSubstr("close to the recorded one"));
  // The same clips, not rescaled, have other values.
  Contract unscaled = written;
  unscaled.inputs["audio"].rescale_factor = 1;
  set_contract(kExample, folder / "unscaled.onnx", unscaled, nullptr, runtime);
  EXPECT_FALSE(check_contract(folder / "unscaled.onnx", data, runtime).passed);
  const Error error =
      error_of([&] { verify(folder / "unscaled.onnx", folder / "unscaled.onnx", verify_options); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("contradicts the contract"));
}

TEST_P(RunTest, BenchTimesEveryModelInTheSameRounds) {
  BenchOptions options;
  options.runtime.library = GetParam().string();
  options.repeats = 20;
  options.batches = {1, 2};
  options.cold_starts = 1;
  const BenchReport report = bench({kExample, small()}, options);
  ASSERT_EQ(report.models.size(), 2U);
  for (const BenchResult& model : report.models) {
    ASSERT_EQ(model.batches.size(), 2U);
    EXPECT_EQ(model.batches[1].batch, 2U);
    for (const BatchResult& batch : model.batches) {
      EXPECT_EQ(batch.latency.calls, 20U);
      EXPECT_GT(batch.latency.min, 0);
      EXPECT_LE(batch.latency.min, batch.latency.p50);
      EXPECT_LE(batch.latency.p50, batch.latency.p90);
      EXPECT_LE(batch.latency.p90, batch.latency.p99);
      EXPECT_LE(batch.speed_up.low, batch.speed_up.ratio);
      EXPECT_LE(batch.speed_up.ratio, batch.speed_up.high);
    }
    EXPECT_GT(model.load_seconds, 0);
    EXPECT_GT(model.cold_start_seconds, model.batches[0].latency.min);
    EXPECT_GT(model.peak_memory, model.bytes);
  }
  EXPECT_LT(report.models[1].bytes, report.models[0].bytes);
}

TEST_P(RunTest, CalibrationSeesEveryActivationAndItsPartsAreTheWhole) {
  CalibrateOptions options;
  options.runtime.library = GetParam().string();
  options.data.path = kClips;
  options.data.samples = 24;
  options.data.contract = sound_of_a_second();
  const CalibrateResult whole = calibrate(kExample, folder / "whole.ranges", options);
  EXPECT_EQ(whole.samples, 24U);
  EXPECT_EQ(whole.values.size(), 38U);  // input, 29 Conv, 5 Add, pooling, Flatten, logits
  for (const ObservedValue& value : whole.values) {
    EXPECT_EQ(value.samples, 24U) << value.name;
    EXPECT_LE(value.chosen.low, 0);
    EXPECT_LT(value.chosen.low, value.chosen.high) << value.name;
    EXPECT_GT(value.sqnr_db, 15) << value.name;
  }
  std::vector<std::filesystem::path> parts;
  options.shards = 2;
  for (options.shard = 0; options.shard < 2; ++options.shard) {
    parts.push_back(folder / ("part" + std::to_string(options.shard)));
    calibrate(kExample, parts.back(), options);
  }
  merge_ranges(parts, folder / "merged.ranges");
  EXPECT_EQ(test::read_file(folder / "merged.ranges"), test::read_file(folder / "whole.ranges"));
}

INSTANTIATE_TEST_SUITE_P(Versions, RunTest, testing::ValuesIn(runtime::Library::installed()),
                         test::version_name);

}  // namespace
}  // namespace ounce
