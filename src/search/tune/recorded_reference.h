// Samples, and what the original makes of them, kept in memory: a candidate is compared without running the
// original again.
#pragma once

#include <ounce/verify.h>

#include <cstdint>
#include <filesystem>
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

}  // namespace ounce::search
