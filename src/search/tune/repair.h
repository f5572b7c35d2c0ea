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

// Which pieces of a model to treat with more care (to leave in floats, or to give more bits), so that the
// whole passes at the least cost? Sensitivity and tune differ in what a piece is, what it costs and what
// passes. (A static recipe knows more of its nodes, and what time they take: quantize/float_nodes.h.)
//
// What each piece brings alone has been measured, and noises of independent pieces add, so it can be expected
// how many are needed. Those that bring the most for their cost follow each other; the shortest beginning of
// that list that passes is found by doubling and halving, since an expectation is a guess until it is
// measured. What turns out not to be needed goes back, the dearest first.

inline constexpr double kDestroyed = 1e6;  // stands for noise that is no number

struct Piece {
  double noise = 0;  // over signal at the outputs, that it brings
  double cost = 0;   // of leaving it out, in whatever counts
};

using Pieces = std::vector<std::size_t>;  // by their numbers

struct LeaveOutQuestions {
  std::function<bool(const Pieces& left_out)> passes;
  std::function<bool()> may_go_on = [] { return true; };  // asked before each of them
};

// Most noise for its cost first.
Pieces by_worth(const std::vector<Piece>& pieces);

// How many will be needed to bring the noise of `all` below `limit`: one at least, unless there are none.
std::size_t expected_count(const std::vector<Piece>& pieces, double all, double limit);

// In the order of their worth; nothing when nothing passed.
std::optional<Pieces> shortest_passing(const std::vector<Piece>& pieces, double all, double limit,
                                       const LeaveOutQuestions& ask);

// `chosen` passes, its dearest last: what passes without some of it.
Pieces without_the_needless(Pieces chosen, const LeaveOutQuestions& ask);

}  // namespace ounce::search
