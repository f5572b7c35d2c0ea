#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>
#include <ounce/model.h>
#include <ounce/quantize.h>

#include <cmath>

#include "formats/onnx/file/reader.h"
#include "support/commands_example.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

namespace fs = std::filesystem;
using test::kExample;
using test::read_file;

QuantizeOptions options_for(Format format) {
  QuantizeOptions options;
  options.recipe.format = format;
  return options;
}

TEST(QuantizeModel, MakesTheExampleSmallAndKeepsItsWeights) {
  const test::TemporaryFolder folder;
  struct Expected {
    Format format;
    double ratio, sqnr_db;
  };
  for (const auto& [format, ratio, sqnr_db] :
       {Expected{Format::kW16, 0.52, 70}, {Format::kW8, 0.29, 44}, {Format::kW4, 0.19, 21}}) {
    const QuantizeResult result = quantize(kExample, folder / "small.onnx", options_for(format));
    EXPECT_LT(result.ratio(), ratio);
    EXPECT_GT(result.sqnr_db, sqnr_db);
    EXPECT_EQ(result.bytes_after, fs::file_size(folder / "small.onnx"));
    for (const TensorOutcome& tensor : result.tensors) {
      EXPECT_FALSE(tensor.reason.empty());
      if (!tensor.stored) continue;
      EXPECT_GT(tensor.sqnr_db, sqnr_db / 2) << tensor.name;
      EXPECT_LT(tensor.bytes_after, tensor.bytes_before);
    }
  }
}

// Mask values of -1e4 have nearly no error but most of the energy of all constants.
TEST(QuantizeModel, AnAttentionMaskDoesNotHideWhatWeightsLose) {
  constexpr std::size_t kSide = 64;
  std::vector<float> weights(kSide * kSide), mask(kSide * kSide);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = 0.01F * static_cast<float>((i * 7919) % 1009) - 5;
    mask[i] = i % kSide > i / kSide ? -1e4F : 0;
  }
  test::ModelBuilder model(17, 8);
  model.input("x", test::kFloat, {kSide, kSide}).output("y", test::kFloat, {kSide, kSide});
  model.initializer("w", {kSide, kSide}, weights).initializer("mask", {kSide, kSide}, mask);
  model.initializer(test::tensor("from", test::kInt64, {1}, std::string(8, '\0')));
  model.initializer(test::tensor("to", test::kInt64, {1}, std::string("\x40\0\0\0\0\0\0\0", 8)));
  model.node("Slice", {"mask", "from", "to"}, {"part"}).node("MatMul", {"x", "w"}, {"product"});
  model.node("Add", {"product", "part"}, {"y"});
  const test::TemporaryFolder folder;
  test::write_file(folder / "model.onnx", model.bytes());
  QuantizeOptions options = options_for(Format::kW4);
  options.trial.is_wanted = false;
  const QuantizeResult result = quantize(folder / "model.onnx", folder / "small.onnx", options);
  double weight_db = 0, mask_db = 0;
  for (const TensorOutcome& tensor : result.tensors) {
    EXPECT_TRUE(tensor.stored) << tensor.name;
    (tensor.name == "w" ? weight_db : mask_db) = tensor.sqnr_db;
  }
  EXPECT_LT(weight_db, 30);
  EXPECT_GT(mask_db, 60);
  // Half of the values have this noise, the other half nearly none: 3 dB.
  EXPECT_NEAR(result.sqnr_db, weight_db + 3.01, 0.1);
}

// All decoders use the same stored weights.
TEST(QuantizeModel, DecodersOf4BitsGiveTheSameWeights) {
  const test::TemporaryFolder folder;
  QuantizeOptions options = options_for(Format::kW4);
  const QuantizeResult fast = quantize(kExample, folder / "fast.onnx", options);
  options.recipe.memory = MemoryUse::kLow;
  const QuantizeResult low = quantize(kExample, folder / "low.onnx", options);
  options.recipe.memory = MemoryUse::kFast;
  options.recipe.decoder = DecoderChoice::kFold;
  const QuantizeResult shifted = quantize(kExample, folder / "shifted.onnx", options);
  EXPECT_EQ(fast.sqnr_db, shifted.sqnr_db);
  EXPECT_NE(fast.plan_digest, shifted.plan_digest);
  EXPECT_NE(fast.plan_digest, low.plan_digest);
  if (!fast.trial.is_tried) return;
  EXPECT_NEAR(fast.trial.sqnr_db, shifted.trial.sqnr_db, 0.1);
  EXPECT_NEAR(fast.trial.sqnr_db, low.trial.sqnr_db, 0.1);
  EXPECT_GT(fast.trial.memory_before.value_or(LoadMemory{1, 1}).peak, 0U);
}

TEST(QuantizeModel, RecordsWhatItDidInTheModel) {
  const test::TemporaryFolder folder;
  const QuantizeResult result = quantize(kExample, folder / "small.onnx", {});
  const ModelInfo info = inspect(folder / "small.onnx");
  using testing::Contains;
  using testing::Pair;
  EXPECT_THAT(info.metadata, Contains(Pair("ounce.version", version())));
  EXPECT_THAT(info.metadata, Contains(Pair("ounce.plan", result.plan_digest)));
  EXPECT_THAT(info.metadata, Contains(Pair("ounce.source", result.source_digest)));
}

TEST(QuantizeModel, GivesTheSameBytesForAnyNumberOfThreads) {
  const test::TemporaryFolder folder;
  for (const Format format : {Format::kW8, Format::kW4, Format::kW16}) {
    QuantizeOptions options = options_for(format);
    std::string first;
    for (const unsigned threads : {1U, 2U, 7U}) {
      options.threads = threads;
      quantize(kExample, folder / "small.onnx", options);
      const std::string bytes = read_file(folder / "small.onnx");
      if (first.empty()) first = bytes;
      EXPECT_TRUE(bytes == first);
    }
  }
}

// A model with a large weight (digested while it is read for its range) and a small one.
std::string model_with_large_weight(float last_value) {
  std::vector<float> large(std::size_t{700} * 1000), small(512, 0.5F);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i % 1001) - 500;
  large.back() = last_value;
  test::ModelBuilder model;
  model.input("x", test::kFloat, {1, 700}).output("y", test::kFloat, {1, 16});
  model.initializer("large", {700, 1000}, large).initializer("small", {16, 32}, small);
  model.node("MatMul", {"x", "large"}, {"h"}).node("MatMul", {"h", "small"}, {"y"});
  return model.bytes();
}

TEST(QuantizeModel, TheDigestOfTheSourceDependsOnTheSourceAlone) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "model.onnx", model_with_large_weight(1));
  QuantizeOptions options;
  options.trial.is_wanted = false;
  const std::string digest = quantize(folder / "model.onnx", folder / "out.onnx", options).source_digest;
  for (const Format format : {Format::kW16, Format::kW4}) {
    options.recipe.format = format;
    EXPECT_EQ(quantize(folder / "model.onnx", folder / "out.onnx", options).source_digest, digest);
  }
  options.recipe.exclude = {"large"};  // so the plan does not read it
  EXPECT_EQ(quantize(folder / "model.onnx", folder / "out.onnx", options).source_digest, digest);
  options.threads = 1;
  EXPECT_EQ(quantize(folder / "model.onnx", folder / "out.onnx", options).source_digest, digest);
  test::write_file(folder / "model.onnx", model_with_large_weight(2));
  EXPECT_NE(quantize(folder / "model.onnx", folder / "out.onnx", options).source_digest, digest);
}

TEST(QuantizeModel, ASecondTimeThereIsNothingLeftToDo) {
  const test::TemporaryFolder folder;
  quantize(kExample, folder / "small.onnx", {});
  try {
    quantize(folder / "small.onnx", folder / "smaller.onnx", {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  }
  EXPECT_FALSE(fs::exists(folder / "smaller.onnx"));
}

TEST(QuantizeModel, ADryRunForetellsTheSizeAndWritesNothing) {
  const test::TemporaryFolder folder;
  QuantizeOptions options;
  options.dry_run = true;
  const QuantizeResult foretold = quantize(kExample, folder / "small.onnx", options);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  options.dry_run = false;
  const QuantizeResult result = quantize(kExample, folder / "small.onnx", options);
  EXPECT_EQ(foretold.bytes_after, result.bytes_after);
  EXPECT_EQ(foretold.plan_digest, result.plan_digest);
  EXPECT_TRUE(std::isnan(foretold.sqnr_db));
}

TEST(QuantizeModel, RefusesToReplaceItsInput) {
  const test::TemporaryFolder folder;
  fs::copy_file(kExample, folder / "model.onnx");
  fs::create_symlink(folder / "model.onnx", folder / "link.onnx");
  for (const char* name : {"model.onnx", "link.onnx"}) {
    EXPECT_THROW(quantize(folder / "model.onnx", folder / name, {}), Error);
  }
  EXPECT_TRUE(read_file(folder / "model.onnx") == read_file(kExample));
}

TEST(QuantizeModel, ReportsProgressUpToTheEnd) {
  const test::TemporaryFolder folder;
  Progress progress;
  QuantizeOptions options;
  options.progress = &progress;
  options.trial.is_wanted = false;
  quantize(kExample, folder / "small.onnx", options);
  EXPECT_STREQ(progress.stage.load(), "checking");
  EXPECT_GT(progress.total.load(), 0U);
  EXPECT_EQ(progress.done.load(), progress.total.load());
}

TEST(QuantizeModel, OneThatIsStoppedLeavesNothingAndTheOneBesideItGoesOn) {
  const test::TemporaryFolder folder;
  const auto code_of = [&](const char* name, Progress& progress) -> std::optional<ErrorCode> {
    QuantizeOptions options;
    options.progress = &progress;
    options.trial.is_wanted = false;
    try {
      quantize(kExample, folder / name, options);
      return std::nullopt;
    } catch (const Error& error) {
      return error.code();
    }
  };
  Progress stopped, late, other;
  stopped.stop();
  late.stop_after(std::chrono::seconds(0));
  std::optional<ErrorCode> first, second, third;
  std::thread one([&] { first = code_of("stopped.onnx", stopped); });
  std::thread two([&] { second = code_of("late.onnx", late); });
  third = code_of("other.onnx", other);
  one.join();
  two.join();
  EXPECT_EQ(first, ErrorCode::kCancelled);
  EXPECT_EQ(second, ErrorCode::kCancelled);
  EXPECT_EQ(third, std::nullopt);
  std::vector<fs::path> files(fs::directory_iterator(folder.path()), fs::directory_iterator());
  EXPECT_EQ(files, std::vector{folder / "other.onnx"});
}

TEST(QuantizeModel, ExternalDataHoldsTheSameWeights) {
  const test::TemporaryFolder folder;
  QuantizeOptions options;
  const QuantizeResult inline_result = quantize(kExample, folder / "inline.onnx", options);
  options.external_data = ExternalData::kAlways;
  const QuantizeResult external_result = quantize(kExample, folder / "external.onnx", options);
  EXPECT_EQ(external_result.sqnr_db, inline_result.sqnr_db);
  EXPECT_EQ(inspect(folder / "external.onnx").external_files.size(), 1U);
  // Packing it into one file again restores the tensors.
  copy_model(folder / "external.onnx", folder / "packed.onnx", {.external_data = ExternalData::kNever});
  EXPECT_TRUE(read_file(folder / "packed.onnx") == read_file(folder / "inline.onnx"));
}

TEST(QuantizeModel, ANewVersionTakesItsOldDataFileAway) {
  const test::TemporaryFolder folder;
  QuantizeOptions options;
  options.external_data = ExternalData::kAlways;
  quantize(kExample, folder / "small.onnx", options);
  options.recipe.format = Format::kW16;
  quantize(kExample, folder / "small.onnx", options);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, 2U);
  EXPECT_NO_THROW(inspect(folder / "small.onnx"));
}

TEST(Copy, IsIdentical) {
  const test::TemporaryFolder folder;
  copy_model(kExample, folder / "copy.onnx");
  EXPECT_TRUE(read_file(folder / "copy.onnx") == read_file(kExample));
}

TEST(Copy, TakesExternalFilesAlongUnchanged) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "to");
  copy_model(kExample, folder / "external.onnx", {.external_data = ExternalData::kAlways});
  copy_model(folder / "external.onnx", folder / "to/external.onnx");
  std::size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_TRUE(read_file(entry.path()) == read_file(folder.path() / "to" / entry.path().filename()));
    ++compared;
  }
  EXPECT_EQ(compared, 2U);
}

TEST(Copy, LeavesOtherFilesOfTheSameNameAlone) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "to");
  copy_model(kExample, folder / "external.onnx", {.external_data = ExternalData::kAlways});
  const std::string location = inspect(folder / "external.onnx").external_files.front().name;
  test::write_file(folder.path() / "to" / location, "of another program");
  EXPECT_THROW(copy_model(folder / "external.onnx", folder / "to/external.onnx"), Error);
  EXPECT_EQ(read_file(folder.path() / "to" / location), "of another program");
  EXPECT_FALSE(fs::exists(folder / "to/external.onnx"));
}

TEST(QuantizeModel, AnotherWayToFindScalesGivesItsDataAnotherName) {
  const test::TemporaryFolder folder;
  QuantizeOptions options;
  options.external_data = ExternalData::kAlways;
  const std::string first = quantize(kExample, folder / "a.onnx", options).plan_digest;
  options.recipe.scale = ScaleMethod::kAbsMax;
  const std::string second = quantize(kExample, folder / "a.onnx", options).plan_digest;
  options.recipe.rounding = Rounding::kNearest;
  const std::string third = quantize(kExample, folder / "a.onnx", options).plan_digest;
  EXPECT_NE(first, second);
  EXPECT_NE(second, third);
}

TEST(Inspect, CountsWhatIsThere) {
  const ModelInfo info = inspect(kExample);
  EXPECT_EQ(info.bytes, fs::file_size(kExample));
  EXPECT_EQ(info.nodes, 97U);
  ASSERT_EQ(info.inputs.size(), 1U);
  EXPECT_EQ(info.inputs[0].type, "float32[N,1,8000]");
  EXPECT_EQ(info.ops.front().name, "Conv");
  EXPECT_TRUE(info.blockers.empty());
  const test::TemporaryFolder folder;
  EXPECT_EQ(info.bytes_after, quantize(kExample, folder / "small.onnx", {}).bytes_after);
}

}  // namespace
}  // namespace ounce
