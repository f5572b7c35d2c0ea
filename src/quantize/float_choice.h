// Chooses the nodes of a static INT8 model that stay in FP32 to preserve accuracy.
//
// The noise of each node is found by bisection (bisect_noise below). Noise then gets a price in time
// (plan/float_choice/frontier.h): a higher price keeps more nodes in FP32, and no assignment is quieter
// in the same time, as far as the estimates go. Of these assignments, from the fastest to the one with all
// nodes in FP32, the first that is close enough is found by measuring.
//
//   in INT8        │ a b c d e f      19.8 dB    100 % of the time
//   higher price   │ a b c d · f      23.1 dB    102 %
//   of noise       │ · · c d · f      28.4 dB    108 %     ← the first that is close enough
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

  // Keeps more nodes in FP32 until the outputs reach `goal` dB, or as long as each step gains half a decibel.
  // Adds at most `most_time` to the time of the fastest assignment and keeps most of what INT8 saves. True
  // when it kept any.
  bool leave(double goal, double most_time);

  // The same until the outputs are usable, whatever the time, as long as it is less than that of FP32. False
  // when this is impossible; then nothing is changed. `may_be_long`: ignores the budget that was spent
  // before.
  bool leave_until_acceptable(bool may_be_long);

  // Moves nodes back to INT8 that are not needed for `goal` dB any more: a calibration that was chosen since
  // may have made them needless.
  void give_back(double goal);

  Recipe all_in_floats() const;

  // The noise of a node that runs in INT8; 0 before any node was kept in FP32.
  double noise_of(const std::string& output) const;

 private:
  struct Step {
    Recipe recipe;
    std::vector<std::string> floats = {};  // nodes that were on integers before
    double noise = 0;                      // of those that would still be
    double added = 0;                      // time, against what all on integers take
    bool is_worth_it = true;               // most of what integers gain is left
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
  std::map<std::string, double> noise_;  // of nodes on integers, by what they give, as it was found last
  std::set<std::string> left_;           // to floats, here
  std::optional<double> fastest_;        // nanoseconds, when nothing was left to floats yet
};

// Finds the pieces of a graph that bring the noise. Most models have few noisy nodes, and those are often
// close to each other in the graph. So the whole is bisected, and noisy halves are bisected again.
//
//   a b c d e f g h        all: 0.4
//   a b c d │ e f g h      0.00002 │ 0.4      the left half needs no more measurements
//             e f │ g h    0.4 │ 0.00001
//             e │ f        0.4 │ 0.00001      the noise comes from e

struct BisectionQuestions {
  std::function<double(std::size_t first, std::size_t count)> noise;  // that these bring, without the others
  std::function<bool()> may_go_on = [] { return true; };              // asked before each of them
};

// The noise of each of `count` pieces, which bring `all` together. Pieces that together bring no more than
// their share of `harmless` are not told apart, nor those for which no time was left: each gets an equal
// part.
std::vector<double> bisect_noise(std::size_t count, double all, double harmless,
                                 const BisectionQuestions& ask);

}  // namespace ounce::quantization
