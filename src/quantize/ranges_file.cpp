#include "quantize/ranges_file.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <cmath>
#include <limits>

#include "calibration/calibrators.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace ounce::quantization {
namespace {

ObservedValue describe(const std::string& name, const calibration::Statistics& statistics) {
  using Method = CalibrationMethod;
  ObservedValue value;
  value.name = name;
  value.samples = statistics.samples();
  value.count = statistics.count();
  value.not_finite = statistics.not_finite();
  value.minimum = statistics.minimum();
  value.maximum = statistics.maximum();
  value.mean = calibration::choose_range(statistics, Method::kMean);
  value.percentile = calibration::choose_range(statistics, Method::kPercentile);
  value.entropy = calibration::choose_range(statistics, Method::kEntropy);
  value.mse = calibration::choose_range(statistics, Method::kMse);
  const calibration::Choice best = calibration::choose_best(statistics);
  value.chosen = best.range;
  value.method = best.method;
  const double noise = calibration::predicted_error(statistics, best.range);
  value.sqnr_db = noise == 0 ? std::numeric_limits<double>::infinity()
                             : 10 * std::log10(calibration::mean_square(statistics) / noise);
  return value;
}

constexpr std::uint64_t kFewForRanges = 16;

}  // namespace

void require_replaceable(const std::filesystem::path& output) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(output, ignored)) return;
  const io::MappedFile file = io::MappedFile::open(output);
  if (file.bytes().empty() || file.bytes().substr(0, 64).find("ounce.ranges") != std::string_view::npos)
    return;
  throw Error(ErrorCode::kUsage, "exists and is not a calibration file; choose another `output`",
              output.string());
}

CalibrateResult describe_ranges(const calibration::Ranges& ranges) {
  CalibrateResult result;
  result.samples = ranges.samples;
  for (const auto& [name, statistics] : ranges.values) {
    result.values.push_back(describe(name, statistics));
    const ObservedValue& value = result.values.back();
    if (value.not_finite != 0) {
      result.notes.push_back(
          fmt::format("'{}' had {} NaN or infinite values, which were ignored", name, value.not_finite));
    }
    if (value.minimum == value.maximum && value.count != 0)
      result.notes.push_back(fmt::format("'{}' is constant: always {}", name, value.minimum));
  }
  if (ranges.samples < kFewForRanges) {
    result.notes.push_back(
        fmt::format("calibrated on {} only; use a few hundred samples",
                    ranges.samples == 1 ? "1 sample" : fmt::format("{} samples", ranges.samples)));
  }
  return result;
}

CalibrateResult write_ranges(const calibration::Ranges& ranges, const std::filesystem::path& output) {
  require_replaceable(output);
  const std::string text = calibration::to_json(ranges);
  io::OutputFile file(output, text.size());
  file.write(0, text);
  file.commit();
  CalibrateResult result = describe_ranges(ranges);
  result.output = output;
  return result;
}

calibration::Ranges load_ranges(const std::filesystem::path& path) {
  const io::MappedFile file = io::MappedFile::open(path);
  return calibration::parse_ranges(file.bytes(), path.string());
}

}  // namespace ounce::quantization
