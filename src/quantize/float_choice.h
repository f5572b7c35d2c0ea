// Chooses the nodes of a static INT8 model that are kept in FP32 to preserve accuracy.
//
// The noise of each node is found by bisection (bisect_noise below). The estimated Pareto front of noise and
// time (plan/float_choice/frontier.h) is a sequence of assignments, from the fastest to the one with all
// nodes in FP32. Measurements find the first one that is accurate enough.
//
//   in INT8        │ a b c d e f      19.8 dB    100 % of the time
//   higher weight  │ a b c d · f      23.1 dB    102 %
//   of noise       │ · · c d · f      28.4 dB    108 %     ← the first that is accurate enough
//   ↓              │ · · · · · ·      all FP32   180 %
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "quantize/static_search.h"

namespace ounce::quantization {

class FloatChoice {
 public:
  FloatChoice(SearchBudget& budget, std::vector<std::string>& notes) : budget_(budget), notes_(notes) {}

  // Keeps more nodes in FP32 until the outputs reach `goal` dB, or as far as this gains at least half a
  // decibel. Adds at most the share `most_time` to the time of the fastest assignment and keeps most of the
  // speedup of INT8. Returns true if it kept any node in FP32.
  bool leave(double goal, double most_time);

  // Keeps nodes in FP32 until the outputs are usable, at any time less than that of FP32. Returns false and
  // changes nothing if this is impossible. `may_be_long`: ignores the spent part of the budget.
  bool leave_until_acceptable(bool may_be_long);

  // Moves nodes back to INT8 if they are no longer needed for `goal` dB, for example because another
  // calibration was chosen since.
  void give_back(double goal);

  Recipe all_in_floats() const;

  // The noise of a node that runs in INT8; 0 before any noise was measured.
  double noise_of(const std::string& output) const;

 private:
  struct Step {
    Recipe recipe;
    std::vector<std::string> floats = {};  // nodes that this step moves from INT8 to FP32
    double noise = 0;                      // estimated noise of the nodes left in INT8
    double added = 0;                      // added time / time with all nodes in INT8
    bool is_worth_it = true;               // keeps most of the speedup of INT8
    bool is_faster_than_floats = true;
  };

  static Recipe in_floats(const Recipe& from, const std::vector<std::string>& outputs);
  std::vector<std::string> on_integers(const Recipe& recipe) const;
  void find_noise(double goal);
  std::vector<Step> steps(const Recipe& from);
  std::size_t expected(const std::vector<Step>& steps, double limit);
  std::size_t first_within(const std::vector<Step>& steps, double limit, double share);
  std::optional<std::size_t> first_confirmed(const std::vector<Step>& steps, double wanted, double least,
                                             bool may_be_long);
  void note_left(const Step& step, double before);

  SearchBudget& budget_;
  std::vector<std::string>& notes_;
  std::map<std::string, double> noise_;  // last measured noise of INT8 nodes, by output
  std::set<std::string> left_;           // nodes kept in FP32 by this class
  std::optional<double> fastest_;        // estimated nanoseconds with all nodes in INT8
};

// Finds the pieces of a graph that cause the noise. Most models have few noisy nodes, and these are often
// close to each other. So the graph is bisected, and noisy halves are bisected again.
//
//   a b c d e f g h        all: 0.4
//   a b c d │ e f g h      0.00002 │ 0.4      the left half needs no more measurements
//             e f │ g h    0.4 │ 0.00001
//             e │ f        0.4 │ 0.00001      the noise comes from e
struct BisectionQuestions {
  std::function<double(std::size_t first, std::size_t count)> noise;  // noise of these pieces alone
  std::function<bool()> may_go_on = [] { return true; };              // called before each measurement
};

// Returns the noise of each of `count` pieces, whose total noise is `all`. A section whose noise is at most
// its share of `harmless` is not bisected, nor are the remaining sections once `may_go_on` returns false:
// their pieces get equal parts.
std::vector<double> bisect_noise(std::size_t count, double all, double harmless,
                                 const BisectionQuestions& ask);

}  // namespace ounce::quantization
