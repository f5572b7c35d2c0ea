// The search for the best recipe.
//
// 1. The formats that experience names: stored in 8 bits (in 16 if that does not pass), dynamic, static,
//    static with dynamic layers; later stored in 16 and in 4 bits, few bits in kernels where there are any,
//    computed on 16-bit floats, static with 16-bit activations. Each is made, judged and timed.
// 2. What is fast and does not pass is repaired: layers leave the integers, those first that bring the most
//    quality for the time they cost, both measured; and no more of them than the gate wants. What passed
//    only on the data that was searched on is repaired with room to spare.
// 3. Of what passes, layers leave the integers whose Q/DQ cost more than their kernels gain; weights of
//    layers that stand it are stored in 4 bits, where size counts.
// 4. The best few are timed against each other once more.
//
// Every step is in the journal: a search that is run again goes the same way.
#pragma once

#include <ounce/tune.h>

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
  std::size_t number = 0;  // its place among the candidates
};

class Search {
 public:
  // `adopt` is asked whenever there is a new best: it has the final word, and keeps it.
  Search(const TuneOptions& options, Evaluator& evaluator, Clock& clock,
         std::function<bool(const Candidate&)> adopt);

  // Until there is nothing left to try or no time. Throws Error{kCancelled} when it is stopped; candidates
  // and best() hold what has been found.
  void run();

  const std::vector<Candidate>& candidates() const { return candidates_; }
  const Candidate* best() const { return best_ ? &candidates_[*best_] : nullptr; }
  const std::vector<std::string>& notes() const { return notes_; }
  // No model can pass: there are too few samples to be sure of any. Only the safest formats are tried then.
  void note_too_few_samples() { has_too_few_samples_ = true; }
  bool is_complete() const { return is_complete_; }  // nothing was left out for lack of time

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

  // Judges and times it, and makes it the best if it is.
  void attempt(const Recipe& recipe, const std::string& name);
  void consider(std::size_t candidate);
  void tell(std::size_t candidate);  // whoever listens for trials
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
  double reserve_ = 0;     // seconds for the end
  double least_cost_ = 0;  // of all that have been the best
  bool is_complete_ = true;
  bool has_too_few_samples_ = false;
};

}  // namespace ounce::search
