// No function of the library overwrites its inputs, by any name; it fails before any work.
#include "quantize/output_place.h"

#include <gmock/gmock.h>
#include <ounce/bench.h>
#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/model.h>
#include <ounce/publish.h>
#include <ounce/quantize.h>
#include <ounce/search.h>
#include <ounce/verify.h>
#include <sys/stat.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using testing::HasSubstr;

class OutputPlaceTest : public testing::Test {
 protected:
  OutputPlaceTest() {
    fs::copy_file(OUNCE_EXAMPLES "/commands/commands.onnx", model);
    test::write_file(data, "not even looked at");
    fs::create_hard_link(data, folder / "hard");
    fs::create_symlink(data, folder / "soft");
  }

  template <class Action>
  void expect_refused(const Action& action, const std::string& what) const {
    const Error error = error_of(action);
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("would replace " + what));
    EXPECT_EQ(test::read_file(data), "not even looked at");
    EXPECT_TRUE(fs::is_symlink(folder / "soft"));
  }

  test::TemporaryFolder folder;
  fs::path model = folder / "model.onnx", data = folder / "d.npz";
};

TEST_F(OutputPlaceTest, QuantizeSparesItsDataAndItsRanges) {
  QuantizeOptions options;
  options.trial.data.path = data;
  for (const char* name : {"d.npz", "hard", "soft"})
    expect_refused([&] { quantize(model, folder / name, options); }, "the data");
  options.trial.data = {};
  options.ranges = data;
  expect_refused([&] { quantize(model, folder / "hard", options); }, "the calibration file");
  options.ranges.clear();
  options.trial.runtime.library = data;
  expect_refused([&] { quantize(model, folder / "soft", options); }, "the runtime");
}

TEST_F(OutputPlaceTest, ContractsAndCopiesDoSo) {
  DataOptions options;
  options.path = data;
  Contract contract;
  contract.inputs["audio"].rescale_factor = 2;
  expect_refused([&] { set_contract(model, folder / "hard", contract, &options, {}); }, "the data");
  expect_refused([&] { copy_model(model, model); }, "the input");
}

TEST_F(OutputPlaceTest, RangesDoSo) {
  CalibrateOptions options;
  options.data.path = data;
  expect_refused([&] { calibrate(model, folder / "hard", options); }, "the data");
  expect_refused([&] { calibrate(model, model, options); }, "the input");
  expect_refused([&] { merge_ranges({data, model}, folder / "soft"); }, "one of the parts");
}

TEST_F(OutputPlaceTest, TuneDoesSoForBothOfItsNames) {
  TuneOptions options;
  options.data.path = data;
  expect_refused([&] { tune(model, folder / "hard", options); }, "the data");
  fs::create_symlink(data, folder / "best.closest.onnx");
  expect_refused([&] { tune(model, folder / "best.onnx", options); }, "the data");
}

TEST_F(OutputPlaceTest, TuneSparesTheMeasurementsOfItsCache) {
  fs::create_directory(folder / "cache");
  test::write_file(folder / "cache" / "0123.jsonl", "{}");
  TuneOptions options;
  options.data.path = data;
  options.cache = folder / "cache";
  expect_refused([&] { tune(model, folder / "cache" / "0123.jsonl", options); }, "measurements of the cache");
}

TEST_F(OutputPlaceTest, APipeIsRefusedBeforeTheWork) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  QuantizeOptions options;
  options.trial.data.path = data;  // which would be the next thing to fail
  const Error error = error_of([&] { quantize(model, folder / "pipe", options); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("is a pipe"));
}

// The inputs of these calls are broken, too, so that the error shows that the output is checked first.
TEST_F(OutputPlaceTest, WhatIsMissingIsNamedBeforeTheWork) {
  const fs::path absent = folder / "absent";
  const auto expect_missing = [&](const auto& action, const fs::path& what) {
    const Error error = error_of(action);
    EXPECT_EQ(error.code(), ErrorCode::kIo) << error.what();
    EXPECT_EQ(error.where(), what.string());
  };
  const fs::path& broken = data;
  DataOptions no_data;
  no_data.paths = {{"audio", absent}};
  expect_missing([&] { diff(broken, absent); }, absent);
  ProveOptions prove_options;
  prove_options.source = absent;
  expect_missing([&] { prove(broken, prove_options); }, absent);
  expect_missing([&] { merge_ranges({broken, absent}, folder / "merged"); }, absent);
  expect_missing([&] { merge_ranges({broken, broken}, absent / "merged"); }, absent / "merged");
  expect_missing([&] { copy_model(model, absent / "copy.onnx"); }, absent / "copy.onnx");
  QuantizeOptions quantize_options;
  quantize_options.recipe.exclude = {"matches nothing"};
  expect_missing([&] { quantize(model, absent / "small.onnx", quantize_options); }, absent / "small.onnx");
  quantize_options.trial.data = no_data;
  expect_missing([&] { quantize(model, folder / "small.onnx", quantize_options); }, absent);
  quantize_options.trial.data = {};
  quantize_options.ranges = absent;
  quantize_options.recipe.format = Format::kInt8;
  expect_missing([&] { quantize(model, folder / "small.onnx", quantize_options); }, absent);
  expect_missing([&] { verify(broken, absent, {}); }, absent);
  expect_missing([&] { bench({broken, absent}, {}); }, absent);
  DecodeOptions decode_options;
  decode_options.tokens = 4;
  expect_missing([&] { decode({broken, absent}, decode_options); }, absent);
  VerifyOptions verify_options;
  verify_options.data = no_data;
  expect_missing([&] { verify(broken, broken, verify_options); }, absent);
  BenchOptions bench_options;
  bench_options.data = no_data;
  expect_missing([&] { bench({broken}, bench_options); }, absent);
  AdviseOptions advise_options;
  advise_options.data = no_data;
  expect_missing([&] { advise(broken, advise_options); }, absent);
  SensitivityOptions sensitivity_options;
  sensitivity_options.data = no_data;
  expect_missing([&] { sensitivity(broken, sensitivity_options); }, absent);
  PublishOptions publish_options;
  publish_options.verify.data = no_data;
  expect_missing([&] { publish(broken, folder / "published", publish_options); }, absent);
  CalibrateOptions calibrate_options;
  calibrate_options.data = no_data;
  expect_missing([&] { calibrate(model, folder / "ranges", calibrate_options); }, absent);
  expect_missing([&] { calibrate(model, absent / "ranges", calibrate_options); }, absent / "ranges");
  Contract contract;
  contract.inputs["audio"].rescale_factor = 2;
  expect_missing([&] { set_contract(model, folder / "set.onnx", contract, &no_data, {}); }, absent);
  TuneOptions tune_options;
  tune_options.data = no_data;
  expect_missing([&] { tune(model, folder / "tuned.onnx", tune_options); }, absent);
}

TEST_F(OutputPlaceTest, DataThatDoesNotFitIsRefusedBeforeTheWork) {
  QuantizeOptions options;
  options.recipe.exclude = {"matches nothing"};  // which would be the next thing to fail
  options.trial.data.path = OUNCE_EXAMPLES "/commands/commands_calib.npz";
  options.trial.data.fields = {{"audio", "sounds"}};
  const Error error = error_of([&] { quantize(model, folder / "small.onnx", options); });
  EXPECT_THAT(error.what(), HasSubstr("has no array or column named 'sounds' (it has audio)"));
}

TEST_F(OutputPlaceTest, ARuntimeThatIsNotThereIsRefusedBeforeTheWork) {
  QuantizeOptions options;
  options.recipe.exclude = {"matches nothing"};  // which would be the next thing to fail
  options.trial.runtime.library = "0.0.1";
  const Error error = error_of([&] { quantize(model, folder / "small.onnx", options); });
  EXPECT_EQ(error.where(), "0.0.1");
}

TEST_F(OutputPlaceTest, AnotherFileMayBeReplaced) {
  test::write_file(folder / "old.onnx", "old");
  EXPECT_NO_THROW(copy_model(model, folder / "old.onnx"));
}

}  // namespace
}  // namespace ounce
