// Measures the output error of a model of which some layers are quantized and the others are kept in FP32.
// Results are stored in a journal at once and reused by later runs. Measurements run in parallel.
#pragma once

#include <ounce/search.h>

#include <nlohmann/json_fwd.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/tune/candidate_maker.h"
#include "search/tune/journal.h"
#include "search/tune/layers.h"
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
  std::string identity() const;
  std::uint64_t samples() const;
  Recipe base() const;
  Recipe recipe_for(const std::set<std::size_t>& floats, Format kept);
  std::string key_of(const std::set<std::size_t>& floats, Format kept) const;
  const RecordedReference& recording();
  CandidateMaker& maker();
  nlohmann::json look();
  nlohmann::json run(const std::set<std::size_t>& floats, Format kept, const std::filesystem::path& file);

  std::filesystem::path model_;
  const SensitivityOptions& options_;
  std::vector<std::string> notes_;
  Journal journal_;
  std::unique_ptr<RecordedReference> recording_;
  std::unique_ptr<CandidateMaker> maker_;
  std::optional<Survey> survey_;
  std::uint64_t measured_ = 0, recalled_ = 0;
};

}  // namespace ounce::search
