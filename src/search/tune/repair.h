// Brings a recipe that is fast but does not pass its gate to pass it, at the least cost.
//
// Every layer that it treats roughly is treated carefully alone, and what that brings in quality and costs in
// time is measured. The layers that bring the most for their cost follow each other until the gate is passed;
// those that turn out not to be needed go back; what is left is stored in as few bits as the gate allows.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "search/tune/evaluator.h"

namespace ounce::search {

struct Repaired {
  std::optional<Recipe> recipe;  // nothing when it cannot be repaired in the time there is
  std::string what;              // "4 layers in floats"
};

// `least_sqnr`: dB that the worst output must reach besides passing the gate: more than the gate asks for
// when it turned out that what just passes does not pass on other data.
Repaired repair(Evaluator& evaluator, const Recipe& recipe, double least_sqnr,
                const std::function<bool(double)>& has_time);

// Chooses parts of a model to treat with more care (FP32, or more bits), so that the whole passes at the
// least cost. Sensitivity and tune differ in what an option is, what it costs and what passes. (A static
// recipe knows more of its nodes, and what time they take: quantize/float_choice.h.)
//
// The noise of each option alone has been measured. Noises of independent options add, so the number of
// needed ones can be expected. Options are ordered by noise for their cost; the shortest beginning of that
// list that passes is found by doubling and halving, because an expectation is a guess until it is measured.
// Options that turn out not to be needed go back, the most expensive first.

inline constexpr double kDestroyed = 1e6;  // stands for noise that is no number

struct Option {
  double noise = 0;  // over signal at the outputs, that it brings
  double cost = 0;   // of leaving it out, in whatever counts
};

using Indices = std::vector<std::size_t>;  // by their numbers

struct PassingTest {
  std::function<bool(const Indices& chosen)> passes;
  std::function<bool()> may_go_on = [] { return true; };  // asked before each of them
};

// Most noise for its cost first.
Indices by_worth(const std::vector<Option>& options);

// How many will be needed to bring the noise of `all` below `limit`: one at least, unless there are none.
std::size_t expected_count(const std::vector<Option>& options, double all, double limit);

// In the order of their worth; nothing when nothing passed.
std::optional<Indices> cheapest_passing(const std::vector<Option>& options, double all, double limit,
                                        const PassingTest& ask);

// `chosen` passes, its dearest last: what passes without some of it.
Indices drop_unneeded(Indices chosen, const PassingTest& ask);

}  // namespace ounce::search
