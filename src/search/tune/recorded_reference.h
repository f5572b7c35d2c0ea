// The data of a search: how it is split, and the outputs of the original kept in memory, so that a candidate
// is compared without running the original again.
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
  // `most_samples` of the data that `how` names (0: all of it), evenly spaced (with a carried state the first
  // ones), or as many of them as fit into `most_bytes`. Throws what verify() throws for data that does not
  // fit the model.
  RecordedReference(const std::filesystem::path& original, const VerifyOptions& how, std::uint64_t most_bytes,
                    std::uint64_t most_samples = 0);

  // What verify() would find with the first or evenly spaced samples (with a carried state the first ones);
  // 0: all of them. No edge cases. A model that makes the runtime abort is an Error{kBadInput}: it is loaded
  // in a process of its own first. Safe in several threads.
  // `gates`: others than those of `how`.
  VerifyResult compare(const std::filesystem::path& candidate, std::uint64_t most_samples = 0,
                       const Gates* gates = nullptr) const;

  std::uint64_t samples() const { return kept_->samples(); }
  std::uint64_t available() const { return available_; }  // samples in the data
  bool is_cut() const { return kept_->is_cut(); }         // there was more than fits
  double run_seconds() const { return seconds_; }         // of the original, for all samples
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

// One way to split data: the fit split makes a model (calibration, search), the judge split has the final
// word.
//
// Both take every other sample, because data is often sorted. With a carried state, in which each sample
// follows from the one before, they are the first and the second part of the sequence. A single sample is in
// both.

inline constexpr std::uint64_t kAllSamples = std::numeric_limits<std::uint64_t>::max();

// Part of the data, and how many samples that is.
struct DataPart {
  DataOptions data;
  std::uint64_t samples = 0;
};

// At most `most` samples of each split, or of all of them, evenly spaced. `samples`: how many `data` has. Of
// an odd number the fit split has one more.
DataPart fit_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most = kAllSamples);
DataPart judge_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most = kAllSamples);
DataPart evenly_spaced(const DataOptions& data, std::uint64_t samples, std::uint64_t most);

// The data of a search.
struct Split {
  DataPart search, held_out;
  bool is_same = false;  // there were too few samples for two parts
  std::string runtime_version;
};
Split split_data(const std::filesystem::path& model, const RuntimeOptions& runtime, const DataOptions& data);

}  // namespace ounce::search
