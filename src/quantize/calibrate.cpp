#include "quantize/calibrate.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/quantize.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/machine.h"
#include "base/thread_pool.h"
#include "calibration/calibrators.h"
#include "data/source/open_source.h"
#include "formats/open.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "model/model_file.h"
#include "quantize/digests.h"
#include "quantize/observation.h"
#include "quantize/output_place.h"
#include "recipe/format_info.h"
#include "quantize/pipeline.h"

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

namespace ounce {
namespace {

// The samples that a merged part covers.
struct MergedPart {
  std::filesystem::path path;
  std::vector<calibration::Coverage> covers;

  void require_apart(const MergedPart& earlier) const {
    for (const calibration::Coverage& known : earlier.covers) {
      for (const calibration::Coverage& own : covers) {
        const std::vector<calibration::SampleRun> twice = known.overlap(own);
        if (twice.empty()) continue;
        const std::uint64_t count = calibration::count_of(twice);
        throw Error(
            ErrorCode::kBadInput,
            fmt::format("covers {} sample{} that {} also covers ({}); each may count only once: leave out "
                        "one of the two",
                        count, count == 1 ? "" : "s", earlier.path.string(), calibration::text_of(twice)),
            path.string());
      }
    }
  }
};

}  // namespace

CalibrateResult calibrate(const std::filesystem::path& path, const std::filesystem::path& output,
                          const CalibrateOptions& options) {
  const CancellationScope scope(options.progress);
  model::require_support(path, "calibrate");
  const Stopwatch time;
  const model::ModelFilePtr model = formats::open_model(path);
  quantization::Inputs().add(*model).add(options.data).add(options.runtime).require_apart(output);
  quantization::require_replaceable(output);
  io::require_place(output);
  quantization::require_observable(options, path);
  data::require_files(options.data);
  model->validate();
  ThreadPool pool;
  const std::string digest = quantization::source_digest(*model, pool);
  const model::Exposed exposed = quantization::expose(*model);
  if (exposed.values.empty())
    throw Error(ErrorCode::kUnsupported, "has no node with an INT8 kernel, so there is nothing to calibrate",
                path.string());
  quantization::Observation observed = quantization::observe_activations(exposed, path, options);
  observed.ranges.model = digest;
  if (observed.covers) observed.ranges.covers.push_back(*std::move(observed.covers));
  CalibrateResult result = quantization::write_ranges(observed.ranges, output);
  result.notes.insert(result.notes.begin(), observed.notes.begin(), observed.notes.end());
  result.seconds = time.seconds();
  return result;
}

CalibrateResult merge_ranges(const std::vector<std::filesystem::path>& parts,
                             const std::filesystem::path& output) {
  const Stopwatch time;
  if (parts.empty()) throw Error(ErrorCode::kUsage, "no calibration files to merge");
  quantization::Inputs inputs;
  for (const std::filesystem::path& part : parts) inputs.add("one of the parts", part);
  inputs.require_apart(output);
  for (const std::filesystem::path& part : parts) io::require_readable(part);
  quantization::require_replaceable(output);
  io::require_place(output);
  calibration::Ranges all;
  std::vector<MergedPart> merged;
  for (const std::filesystem::path& part : parts) {
    const calibration::Ranges ranges = quantization::load_ranges(part);
    if (ranges.covers.empty())
      throw Error(ErrorCode::kBadInput,
                  "was written by an older version that did not record the samples: run `calibrate()` again",
                  part.string());
    MergedPart next{part, ranges.covers};
    if (ranges.model == all.model) {  // add() refuses other models
      for (const MergedPart& earlier : merged) next.require_apart(earlier);
    }
    merged.push_back(std::move(next));
    all.add(ranges, part.string());
  }
  CalibrateResult result = quantization::write_ranges(all, output);
  for (const calibration::Coverage& coverage : all.covers) {
    const std::vector<calibration::SampleRun> missing = coverage.missing();
    if (missing.empty()) continue;
    result.notes.push_back(fmt::format("{} of {} samples are in none of the parts: {}",
                                       calibration::count_of(missing), coverage.end() - coverage.begin(),
                                       calibration::text_of(missing)));
  }
  result.seconds = time.seconds();
  return result;
}

CalibrateResult read_ranges(const std::filesystem::path& file) {
  CalibrateResult result = quantization::describe_ranges(quantization::load_ranges(file));
  result.output = file;
  return result;
}

}  // namespace ounce
