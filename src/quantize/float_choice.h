// Which nodes of a static model stay in floats for the sake of its outputs.
//
// What each node brings is found by halving the graph (bisect_noise.h). Noise then gets a price in time
// (formats/onnx/plan/integer_plan.h): the higher it is, the more stays in floats, and whatever price is
// asked, nothing quieter can be had in the same time, as far as the estimates go. On that way from the
// fastest to all in floats the first one is looked for that is close enough, by measuring.
//
//   on integers  │ a b c d e f      19.8 dB    100 % of the time
//   a dearer     │ a b c d · f      23.1 dB    102 %
//   noise        │ · · c d · f      28.4 dB    108 %     ← the first that is close
//   ↓            │ · · · · · ·      all floats 180 %
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/onnx/plan/integer_plan.h"
#include "quantize/static_search.h"

namespace ounce::quantization {

class FloatChoice {
 public:
  FloatChoice(SearchBudget& budget, std::vector<std::string>& notes) : budget_(budget), notes_(notes) {}

  // More nodes stay in floats until outputs have `goal` dB, or as far as half a decibel or more is gained, as
  // long as not more than `most_time` is added to what all on integers take, and most of what they gain is
  // left. True when any do.
  bool leave(double goal, double most_time);

  // The same until outputs do their work, whatever time it takes, as long as it is less than in floats. False
  // when that cannot be had; nothing is changed then. `may_be_long`: whatever was spent before.
  bool leave_until_acceptable(bool may_be_long);

  // What was left to floats and is not needed for `goal` dB any more computes on integers again: a
  // calibration that was chosen since may have made them needless.
  void give_back(double goal);

  Recipe all_in_floats() const;

  // The noise of a node that is on integers now; none before anything was left to floats.
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

// Which of many pieces bring the noise? Asked one by one, it takes as many questions as there are pieces. But
// most models have few bad places, and what is close in a graph is often bad together: so the whole is cut
// into halves, and those again that are noisy.
//
//   a b c d e f g h        all: 0.4
//   a b c d │ e f g h      0.00002 │ 0.4      the left half needs no more questions
//             e f │ g h    0.4 │ 0.00001
//             e │ f        0.4 │ 0.00001      it is e

struct BisectionQuestions {
  std::function<double(std::size_t first, std::size_t count)> noise;  // that these bring, without the others
  std::function<bool()> may_go_on = [] { return true; };              // asked before each of them
};

// The noise of each of `count` pieces, which bring `all` together. Pieces that bring no more than their share
// of `harmless` together are not told apart, nor those that there was no time for: each gets its part.
std::vector<double> bisect_noise(std::size_t count, double all, double harmless,
                                 const BisectionQuestions& ask);

}  // namespace ounce::quantization
