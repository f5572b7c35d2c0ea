// Measures the output error of a model of which some layers are quantized and the others are kept in FP32.
// Results are stored in a journal at once and reused by later runs. Measurements run in parallel.
#pragma once

#include <nlohmann/json.hpp>
#include <ounce/search.h>
#include <ounce/work.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/temporary_files.h"
#include "search/tune/candidate_maker.h"
#include "search/tune/journal.h"
#include "search/tune/layers.h"
#include "search/tune/questions.h"
#include "search/tune/recorded_reference.h"

namespace ounce::search {

struct Measured {
  double noise = 0;  // noise / signal of the worst output; infinite if the model does not run
  std::optional<double> drop;
  std::string metric;
  double reference = 0;
  std::uint64_t samples = 0;
  std::string runtime_version;
};

// Answers the questions of sensitivity():
//
//   {"measure": "survey"}                   the layers, with their estimated noise
//   {"measure": "floats", "recipe": …}      the output error of a model
class SensitivitySession final : public Session {
 public:
  // The arguments must outlive this object.
  SensitivitySession(const std::filesystem::path& model, const SensitivityOptions& options,
                     std::string identity);

  const std::string& identity() const override { return identity_; }
  std::string answer(const std::string& question) override;

 private:
  const RecordedReference& recording();
  CandidateMaker& maker();
  nlohmann::json look();
  nlohmann::json run(const Recipe& recipe);

  const std::filesystem::path& model_;
  const SensitivityOptions& options_;
  std::string identity_;
  TemporaryFolder folder_{"sensitivity"};
  std::mutex mutex_;  // of the members below
  std::unique_ptr<RecordedReference> recording_;
  std::unique_ptr<CandidateMaker> maker_;
  std::atomic<std::uint64_t> made_{0};
};

class SensitivityMeter {
 public:
  SensitivityMeter(const std::filesystem::path& model, const SensitivityOptions& options);

  const Survey& survey();
  // Measures one model for each set of layers kept in FP32 (indices into the survey). `kept` is the storage
  // format of their weights.
  std::vector<Measured> measure(const std::vector<std::set<std::size_t>>& floats,
                                Format kept = Format::kFp32);

  std::uint64_t measured() const { return measured_; }
  std::uint64_t recalled() const { return recalled_; }
  const std::vector<std::string>& notes() const { return notes_; }  // on this run, not on the model

 private:
  Recipe recipe_for(const std::set<std::size_t>& floats, Format kept) const;

  std::filesystem::path model_;
  const SensitivityOptions& options_;
  std::vector<std::string> notes_;
  std::string identity_;
  Journal journal_;
  SensitivitySession session_;
  LocalQueue here_;
  Questions questions_;
  std::optional<Survey> survey_;
  bool has_few_samples_ = false;  // for calibration
  std::uint64_t measured_ = 0, recalled_ = 0;
};

}  // namespace ounce::search
