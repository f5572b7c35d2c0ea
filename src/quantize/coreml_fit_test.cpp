#include "quantize/coreml_fit.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/archive_bytes.h"
#include "support/coreml_builder.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::quantization {
namespace {

struct CoremlFit : testing::TestWithParam<std::pair<Format, const char*>> {};
INSTANTIATE_TEST_SUITE_P(Forms, CoremlFit,
                         testing::Values(std::pair(Format::kW4, "ios18+gpu"),
                                         std::pair(Format::kW4, "ios18+ane"),
                                         std::pair(Format::kW3, "ios18+gpu"), std::pair(Format::kW2, "")));

TEST_P(CoremlFit, DataReducesTheErrorOfTheOutputs) {
  const test::TemporaryFolder folder;
  const auto package = folder / "net.mlpackage";
  coreml::small_coreml(9).write(package);
  std::vector<float> values(std::size_t{32} * 8 * 6 * 6);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::fabs(std::sin(static_cast<float>(i % 97) * 0.7F + static_cast<float>(i / 288)));
  const auto file = folder / "data.npy";
  test::write_file(file,
                   data::test::npy_bytes("<f4", "(32, 8, 6, 6)",
                                         {reinterpret_cast<const char*>(values.data()), values.size() * 4}));
  double sqnr[2] = {};
  for (const Rounding rounding : {Rounding::kNearest, Rounding::kZeroSum}) {
    QuantizeOptions options;
    options.recipe.format = GetParam().first;
    options.recipe.target = GetParam().second;
    options.recipe.rounding = rounding;
    options.recipe.min_bytes = 512;
    options.trial.data.path = file;
    const QuantizeResult result = quantize(package, folder / "out.mlpackage", options);
    const bool is_fitted = rounding == Rounding::kZeroSum;
    sqnr[is_fitted ? 1 : 0] = result.trial.sqnr_db;
    EXPECT_EQ(std::any_of(result.notes.begin(), result.notes.end(),
                          [](const std::string& note) { return note.starts_with("adaptive rounding of "); }),
              is_fitted);
  }
  EXPECT_GT(sqnr[1], sqnr[0] + 1);
}

TEST(CoremlFitTest, NeedsData) {
  const test::TemporaryFolder folder;
  const auto package = folder / "net.mlpackage";
  coreml::small_coreml(9).write(package);
  QuantizeOptions options;
  options.recipe.rounding = Rounding::kAdaptive;
  EXPECT_THAT(test::error_of([&] { quantize(package, folder / "out.mlpackage", options); }).what(),
              testing::HasSubstr("needs calibration data"));
}

}  // namespace
}  // namespace ounce::quantization
