// The data of a search: its split, and the recorded outputs of the original, so that candidates are compared
// without running the original again.
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>
#include <ounce/verify.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/models/reference_outputs.h"

namespace ounce::search {

class RecordedReference {
 public:
  // Records `most_samples` of the data in `how` (0: all), evenly spaced (with a recurrent state: the first
  // ones), or as many of them as fit into `most_bytes`. Throws what verify() throws for data that does not
  // fit the model.
  RecordedReference(const std::filesystem::path& original, const VerifyOptions& how, std::uint64_t most_bytes,
                    std::uint64_t most_samples = 0);

  // Compares like verify() without edge cases, on `most_samples` evenly spaced samples (0: all; with a
  // recurrent state: the first ones). `gates` replace those of `how`. Throws Error{kBadInput} for a model
  // that makes the runtime abort: it is loaded in a separate process first. Thread-safe.
  VerifyResult compare(const std::filesystem::path& candidate, std::uint64_t most_samples = 0,
                       const Gates* gates = nullptr) const;

  std::uint64_t samples() const { return kept_->samples(); }
  std::uint64_t available() const { return available_; }  // samples in the data
  bool is_cut() const { return kept_->is_cut(); }         // not all samples fit into `most_bytes`
  double run_seconds() const { return seconds_; }         // duration of running the original on all samples
  const std::string& runtime_version() const { return version_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  runtime::ExecutorOptions executor_options() const;
  std::vector<std::uint64_t> choose(std::uint64_t batches, std::uint64_t samples,
                                    std::uint64_t most_samples) const;

  std::filesystem::path original_;
  VerifyOptions how_;
  std::shared_ptr<runtime::Runners> runners_ = std::make_shared<runtime::Runners>();
  std::optional<ReferenceOutputs> kept_;
  std::uint64_t available_ = 0;
  double seconds_ = 0;
  std::string version_;
  std::vector<std::string> notes_;
};

// Splits data in two: the fit split is for calibration and search, the judge split is the holdout set.
//
// Each takes every other sample, because data is often sorted. With a recurrent state, where each sample
// depends on the one before, they are the first and the second half of the sequence. A single sample is in
// both.

inline constexpr std::uint64_t kAllSamples = std::numeric_limits<std::uint64_t>::max();

// Part of the data, and its number of samples.
struct DataPart {
  DataOptions data;
  std::uint64_t samples = 0;
};

// At most `most` samples of each split, or of all data, evenly spaced. `samples` is the number of samples in
// `data`. If it is odd, the fit split has one more.
DataPart fit_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most = kAllSamples);
DataPart judge_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most = kAllSamples);
DataPart evenly_spaced(const DataOptions& data, std::uint64_t samples, std::uint64_t most);

// The data of a search.
struct Split {
  DataPart search, held_out;
  bool is_same = false;  // both parts are all data, because there were too few samples for two
  std::string runtime_version;
};
Split split_data(const std::filesystem::path& model, const RuntimeOptions& runtime, const DataOptions& data);

}  // namespace ounce::search
