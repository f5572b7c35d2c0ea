#include "api/trial.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "api/runtime.h"
#include "base/cancel.h"
#include "measure/difference.h"
#include "measure/stepper.h"

namespace ounce::api {
namespace {

constexpr std::uint64_t kGeneratedSamples = 4, kDataSamples = 32;
constexpr std::uint64_t kMostOutputBytes = std::uint64_t{256}
                                           << 20;  // of the original's, kept to compare with
// A runtime holds a model's weights up to three times while it loads: as read, decoded, and packed for its
// kernels.
constexpr std::uint64_t kCopiesAtLoad = 3;
constexpr std::uint64_t kRuntimeItself = std::uint64_t{256} << 20;

std::uint64_t available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  while (info >> word) {
    if (word != "MemAvailable:") continue;
    std::uint64_t kilobytes = 0;
    info >> kilobytes;
    return kilobytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

using Outputs = std::vector<data::Tensor>;  // of one batch

// Runs the original over the samples and keeps what it gives.
std::vector<Outputs> run_original(measure::Stepper& stepper, data::Feed& feed, std::uint64_t batches) {
  std::vector<Outputs> all;
  std::uint64_t bytes = 0;
  data::Batch batch;
  for (std::uint64_t i = 0; i < batches && bytes < kMostOutputBytes; ++i) {
    throw_if_cancelled();
    feed.read(i, batch);
    Outputs& outputs = all.emplace_back();
    for (const data::TensorView& view : stepper.run(batch)) {
      outputs.push_back(data::copy_of(view));
      bytes += view.bytes.size();
    }
  }
  return all;
}

}  // namespace

TrialResult try_model(const std::filesystem::path& original, const WrittenFiles& written,
                      std::uint64_t original_bytes, const TrialOptions& options) {
  TrialResult result;
  try {
    runtime::Library::open(runtime::Library::find(options.runtime.library));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo || !options.runtime.library.empty()) throw;
    result.why_not = "no ONNX Runtime was found: the weights were compared, the model was not run";
    return result;
  }
  const std::uint64_t needed = kCopiesAtLoad * original_bytes + kRuntimeItself,
                      available = available_memory();
  if (needed > available) {
    result.why_not = fmt::format(
        "loading it takes about {} and {} are free: the weights were compared, the model was not run",
        gigabytes(needed), gigabytes(available));
    return result;
  }
  runtime::ExecutorOptions how = executor_options(options.runtime);
  if (!how.isolate) how.isolate = runtime::Limits{};

  // The original, in a process that ends before the next one begins: only one of them is in memory at a time.
  std::vector<Outputs> expected;
  std::vector<data::ValueDescription> outputs;
  OpenFeed open;
  try {
    measure::Stepper stepper(runtime::load(original, how), options.data.carry);
    result.runtime_version = stepper.model().library_version();
    outputs = stepper.model().outputs();
    open = open_feed(original, stepper.model().inputs(), options.data);
    result.is_generated = options.data.is_generated();
    const std::uint64_t most = result.is_generated ? kGeneratedSamples : kDataSamples;
    try {
      expected = run_original(stepper, *open.feed, std::min(open.feed->batches(), most));
    } catch (const Error& error) {
      if (!result.is_generated || error.code() == ErrorCode::kCancelled) throw;
      result.why_not =
          fmt::format("the original does not take made-up inputs ({}): give --data", error.what());
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || !result.runtime_version.empty()) throw;
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format(
            "the original does not load, so nothing can be compared: {}; --no-verify writes without trying",
            error.what()));
  }

  how.session.stand_ins = written.stand_ins;
  try {
    measure::Stepper stepper(runtime::load(written.model, how), options.data.carry);
    data::Batch batch;
    std::vector<measure::OutputMeter> meters;
    for (const data::ValueDescription& output : outputs) meters.emplace_back(output, std::nullopt);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      throw_if_cancelled();
      open.feed->read(i, batch);
      const auto given = stepper.run(batch);
      for (std::size_t k = 0; k < meters.size(); ++k) meters[k].add(expected[i].at(k), given[k]);
      result.samples += batch.names.size();
    }
    result.is_tried = true;
    result.sqnr_db = std::numeric_limits<double>::infinity();
    for (const measure::OutputMeter& meter : meters) {
      const OutputComparison compared = meter.result();
      if (meter.shape_differences() != 0)
        throw Error(ErrorCode::kInternal, fmt::format("the output '{}' has another shape: {}", compared.name,
                                                      meter.first_shape_difference()));
      if (compared.candidate_not_finite > compared.reference_not_finite)
        throw Error(ErrorCode::kInternal,
                    fmt::format("the output '{}' has NaN or infinite values that the original has not",
                                compared.name));
      result.sqnr_db = std::min(result.sqnr_db, compared.sqnr_db);
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    throw Error(ErrorCode::kInternal,
                fmt::format("the result fails in the runtime; nothing was written: {}", error.what()),
                written.name.string());
  }
  return result;
}

}  // namespace ounce::api
