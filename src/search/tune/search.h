// The search for the best recipe.
//
// 1. Common formats are made, judged and timed: w8 (w16 if that fails), dynamic INT8, static INT8, static
// INT8 with
//    dynamic layers. Rare formats follow: w16, w4, low-bit weights (MatMulNBits), FP16, static INT8 with
//    16-bit activations.
// 2. Fast candidates that fail are repaired: layers move back to FP32 until the gate passes, in the order of
// measured
//    quality per time. Candidates that passed only on the search data are repaired with a margin.
// 3. In passing candidates, layers whose Q/DQ cost more than their INT8 kernels gain move to FP32, and
// weights of
//    insensitive layers are stored in 4 bits if the objective includes size.
// 4. The best few candidates are timed against each other again.
//
// Every measurement is kept in the journal, so that a repeated search takes the same decisions.
#pragma once

#include <ounce/search.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/tune/evaluator.h"

namespace ounce::search {

struct Candidate {
  Recipe recipe;
  TuneTrial trial;
  std::size_t number = 0;  // index in Search::candidates()
};

class Search {
 public:
  // `adopt` is called for each new best candidate. It judges the candidate on the holdout set, keeps it if it
  // passes, and returns whether it did.
  Search(const TuneOptions& options, Evaluator& evaluator, Clock& clock,
         std::function<bool(const Candidate&)> adopt);

  // Searches until nothing is left to try or the budget is used up. Throws Error{kCancelled} when it is
  // stopped; candidates() and best() then hold the results so far.
  void run();

  const std::vector<Candidate>& candidates() const { return candidates_; }
  const Candidate* best() const { return best_ ? &candidates_[*best_] : nullptr; }
  const std::vector<std::string>& notes() const { return notes_; }
  // Limits the search to the safest formats: there are too few samples for any candidate to pass with the
  // required confidence.
  void note_too_few_samples() { has_too_few_samples_ = true; }
  bool is_complete() const { return is_complete_; }  // no step was skipped for lack of time

 private:
  void try_format(const Recipe& recipe, const char* name);
  bool is_for_dynamic(const Recipe& dynamic);
  void try_safe_formats();
  void try_usual_formats();
  void try_rare_formats();
  void try_nbits();
  void try_memory_curve(Format format, const char* name);
  void try_static();
  void try_dynamic_layers();
  void repair();
  void repair(const Candidate& base, double least_sqnr);
  void trim();
  void trim(const Candidate& base);
  void shrink();
  void compare_best();
  void prove_something();

  // Judges and times a recipe, and makes it the best if it is.
  void attempt(const Recipe& recipe, const std::string& name);
  void consider(std::size_t candidate);
  void tell(std::size_t candidate);  // calls options.on_trial
  void note_untimed();
  void show_progress() const;
  bool has_time(double wanted);  // seconds, or models
  double promise_of(const Candidate& candidate) const;

  const TuneOptions& options_;
  Evaluator& evaluator_;
  Clock& clock_;
  std::function<bool(const Candidate&)> adopt_;
  std::vector<Candidate> candidates_;
  std::optional<std::size_t> best_;
  std::set<std::string> tried_;
  std::set<std::size_t> repaired_;  // candidates
  std::vector<std::string> notes_;
  double reserve_ = 0;     // seconds reserved for the last steps
  double least_cost_ = 0;  // of all candidates that have been the best
  bool is_complete_ = true;
  bool has_too_few_samples_ = false;
};

}  // namespace ounce::search
