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
#include "search/tune/layers.h"

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

// What it brings and what it costs to treat a group of layers more carefully than a recipe does: measured,
// one group at a time.

struct LayerCost {
  std::string name;
  std::vector<std::string> outputs;  // of its layers: they name them in Recipe::nodes
  std::uint64_t values = 0;          // of their weights
  double gain = 0;                   // noise over signal that goes away at the model's outputs
  double cost = 0;                   // share of the original's time that is added; negative: it gets faster
};

// The layers of `recipe` in one of these formats, alone or, if they are many, in blocks; nothing is measured.
std::vector<LayerCost> group_by_format(Evaluator& evaluator, const Recipe& recipe,
                                       const std::vector<Format>& formats);

// The same, with what each brings and costs. `is_timed`: otherwise
// costs are shares of the original's bytes. `has_time` is asked before each part of the work with the seconds
// it will take; when it says no, what has been measured is the result.
std::vector<LayerCost> measure_layer_costs(Evaluator& evaluator, const Recipe& recipe,
                                           const std::vector<Format>& formats, bool is_timed,
                                           const std::function<bool(double)>& has_time);

// `recipe` with these layers in another format.
Recipe with(const Recipe& recipe, const std::vector<LayerCost>& layer_costs, Format format);

// Which layers of a recipe are faster in floats than on integers, by timing whole segments of the graph.
//
// A layer alone in floats pays for the way from integers and back, so that what is slow is not seen one layer
// at a time. The two halves are tried first; a segment that makes the model faster stays in floats, but for
// halves of it that are better back on integers, and of those that do not the halves are tried, where the
// expected speed-up is greatest first.

// The groups that are to leave the integers; none when all are well where they are. `has_time` is asked
// before each timed comparison with the seconds it will take.
std::vector<LayerCost> faster_in_floats(Evaluator& evaluator, const Recipe& recipe,
                                        const std::function<bool(double)>& has_time);

}  // namespace ounce::search
