// An evaluator that asks questions about candidates. Each measurement is made once and kept in the journal.
#pragma once

#include <ounce/quantize.h>
#include <ounce/search.h>
#include <ounce/verify.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/tune/candidate_maker.h"
#include "search/tune/evaluator.h"
#include "search/tune/journal.h"
#include "search/tune/questions.h"
#include "search/tune/recorded_reference.h"
#include "search/tune/tune_meter.h"

namespace ounce::search {

class MeasuringEvaluator : public Evaluator {
 public:
  // Asks `options.queue`, or measures in this process. `identity` is that of the journal.
  MeasuringEvaluator(const TuneOptions& options, const Split& split, CandidateMaker& maker, Journal& journal,
                     Clock& clock, const std::string& identity = {});

  std::vector<double> noises(const std::vector<Recipe>& recipes) override;
  TuneTrial judge(const Recipe& recipe, const std::string& name) override;
  std::vector<TreatedLayer> layers(const Recipe& recipe) override { return maker_.layers(recipe); }
  bool can_make(const Recipe& recipe) const override { return maker_.can_make(recipe); }
  bool computes_on_integers(const Recipe& recipe) override;
  Resolution resolve_static(double close_enough, double most) override;
  std::optional<MeasuredMemory> memory(const Recipe& recipe) override;
  std::uint64_t original_bytes() const override { return meter_.original_bytes(); }
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
    return read(find());
  }

  // Does something that only this process can do, and keeps the result.
  nlohmann::json do_here(const std::string& key, const std::function<nlohmann::json()>& find);

  std::uint64_t recalled() const { return recalled_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<SpeedUp> measure_times(const std::vector<Recipe>& recipes, double seconds,
                                     int repetition) override;
  const nlohmann::json* recall(const std::string& key);
  // The answer to a question, from the journal if it is there.
  template <class Read>
  auto answer(const nlohmann::json& question, const Read& read) {
    return once(
        key_of(question), [&] { return measure(question).value; }, read);
  }
  Answer measure(const nlohmann::json& question);
  void take_notes(const Answer& answer);
  void count(std::set<std::string> keys);
  double seconds_left() const;
  LoadMemory memory_of(const nlohmann::json& question);

  const TuneOptions& options_;
  CandidateMaker& maker_;
  Journal& journal_;
  TuneMeter meter_;
  LocalQueue here_;
  Questions questions_;
  std::set<std::string> counted_;  // models
  std::vector<std::string> notes_;
  std::string timing_cpu_;  // the CPU whose times this search compares; empty: the first that answers
  std::uint64_t recalled_ = 0;
  double kept_back_ = 0;
};

}  // namespace ounce::search
