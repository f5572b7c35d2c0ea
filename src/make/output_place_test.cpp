// No verb of the library writes over what it reads, whatever the name: said before any work.
#include "make/output_place.h"

#include <gmock/gmock.h>
#include <ounce/calibrate.h>
#include <ounce/contract.h>
#include <ounce/copy.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/tune.h>
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
  expect_refused([&] { quantize(model, folder / "hard", options); }, "the ranges");
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
  expect_refused([&] { copy_model(model, model, ExternalData::kAuto); }, "the input");
}

TEST_F(OutputPlaceTest, RangesDoSo) {
  CalibrateOptions options;
  options.data.path = data;
  expect_refused([&] { calibrate(model, folder / "hard", options); }, "the data");
  expect_refused([&] { calibrate(model, model, options); }, "the input");
  expect_refused([&] { merge_ranges({data, model}, folder / "soft"); }, "one of the parts");
}

TEST_F(OutputPlaceTest, TuneDoesSoForBothOfItsNames) {
  if (!has_runtime()) GTEST_SKIP();
  TuneOptions options;
  options.data.path = data;
  expect_refused([&] { tune(model, folder / "hard", options); }, "the data");
  fs::create_symlink(data, folder / "best.closest.onnx");
  expect_refused([&] { tune(model, folder / "best.onnx", options); }, "the data");
}

TEST_F(OutputPlaceTest, TuneSparesTheMeasurementsOfItsCache) {
  if (!has_runtime()) GTEST_SKIP();
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

TEST_F(OutputPlaceTest, AnotherFileMayBeReplaced) {
  test::write_file(folder / "old.onnx", "old");
  EXPECT_NO_THROW(copy_model(model, folder / "old.onnx", ExternalData::kAuto));
}

}  // namespace
}  // namespace ounce
