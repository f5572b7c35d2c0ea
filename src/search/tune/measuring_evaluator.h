// An evaluator that makes candidates and runs them. Each measurement is made once and kept in the journal.
#pragma once

#include <ounce/quantize.h>
#include <ounce/search.h>
#include <ounce/verify.h>

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/temporary_files.h"
#include "search/tune/candidate_maker.h"
#include "search/tune/evaluator.h"
#include "search/tune/journal.h"
#include "search/tune/recorded_reference.h"

namespace ounce::search {

class MeasuringEvaluator : public Evaluator {
 public:
  MeasuringEvaluator(const TuneOptions& options, const Split& split, CandidateMaker& maker, Journal& journal,
                     Clock& clock);

  std::vector<double> noises(const std::vector<Recipe>& recipes) override;
  TuneTrial judge(const Recipe& recipe, const std::string& name) override;
  std::vector<TreatedLayer> layers(const Recipe& recipe) override { return maker_.layers(recipe); }
  bool can_make(const Recipe& recipe) const override { return maker_.can_make(recipe); }
  bool computes_on_integers(const Recipe& recipe) override;
  Resolution resolve_static(double close_enough, double most) override;
  std::optional<MeasuredMemory> memory(const Recipe& recipe) override;
  std::uint64_t original_bytes() const override { return original_bytes_; }
  void keep_back(double seconds) override { kept_back_ = seconds; }

  // Judges a candidate on the holdout set with this confidence.
  TuneTrial hold_out(const Recipe& recipe, double confidence);

  // Called before each new measurement.
  std::function<void()> before_measuring = [] {};

  // Keeps any other result in the journal: calls `find` if `key` is unknown. `read` converts the JSON and
  // throws nlohmann::json::exception for unexpected content; `find` is then called to replace it.
  template <class Read>
  auto once(const std::string& key, const std::function<nlohmann::json()>& find, const Read& read) {
    if (const nlohmann::json* known = recall(key)) {
      try {
        return read(*known);
      } catch (const nlohmann::json::exception&) {  // replaced below
      }
    }
    return read(find_out(key, find));
  }

  std::uint64_t recalled() const { return recalled_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<SpeedUp> measure_times(const std::vector<Recipe>& recipes, double seconds,
                                     int repetition) override;
  const nlohmann::json* recall(const std::string& key);
  nlohmann::json find_out(const std::string& key, const std::function<nlohmann::json()>& find);
  VerifyOptions verify_options(const DataOptions& data) const;
  Gates gates_with(double confidence) const;
  void count(std::set<std::string> keys);
  double seconds_left() const;
  LoadMemory memory_of(const std::string& key, const std::function<std::filesystem::path()>& file);
  std::filesystem::path file_of(const Recipe& recipe);
  const RecordedReference& recording();

  const TuneOptions& options_;
  const Split& split_;
  const double
      search_confidence_;  // of candidates that depend on the data: they must also pass on the holdout set
  CandidateMaker& maker_;
  Journal& journal_;
  TemporaryFolder folder_{"tune"};
  std::list<std::string> files_;  // existing candidate files, most recently used first
  std::unique_ptr<RecordedReference> recording_;
  std::shared_ptr<ReferenceOutputs> reference_outputs_ = keep_reference_outputs();  // on the holdout set
  std::set<std::string> counted_;                                                   // models
  std::vector<std::string> notes_;
  std::uint64_t original_bytes_ = 0, recalled_ = 0;
  double kept_back_ = 0;
  // The clock stopped the measurement or the machine was too busy for it. It is not kept, because it says
  // more about the machine than about the model.
  bool is_cut_short_ = false;
};

}  // namespace ounce::search
