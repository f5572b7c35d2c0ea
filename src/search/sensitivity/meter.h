// Measures what a model gives when some of its layers are left in floats and the others are not. What is
// known from before is recalled; what is not is measured side by side, and kept at once.
#pragma once

#include <ounce/sensitivity.h>

#include <nlohmann/json_fwd.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/tune/journal.h"
#include "search/tune/layers.h"
#include "search/tune/measuring_evaluator.h"
#include "search/tune/recorded_reference.h"

namespace ounce::search {

// What the format works on.
struct Survey {
  std::vector<Layer> layers;
  std::vector<double> noise;  // estimated, over signal, of what each layer gives
  std::vector<std::string> notes;
};

struct Measured {
  double noise = 0;  // over signal, at the output where it is largest; infinite when it does not run
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
  // For each set the layers that are left in floats, by their place in the survey; `kept` is how their
  // weights are stored.
  std::vector<Measured> measure(const std::vector<std::set<std::size_t>>& floats,
                                Format kept = Format::kFp32);

  std::uint64_t measured() const { return measured_; }
  std::uint64_t recalled() const { return recalled_; }
  const std::vector<std::string>& notes() const { return notes_; }  // about this run, not about the model

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
