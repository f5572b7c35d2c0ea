// Repairs a recipe that is fast but fails its gate, by moving layers back to higher precision at the least
// cost.
//
// The gain in quality and the cost in time of each low-precision layer is measured alone. Layers are moved in
// the order of gain for their cost until the gate passes; then layers that turn out not to be needed move
// back. Weights of the moved layers are stored in the fewest bits that pass the gate.
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
  std::optional<Recipe> recipe;  // nothing if no repair was found in time
  std::string what;              // "4 layers in FP32"
};

// `least_sqnr`: dB that the worst output must reach in addition to passing the gate. It exceeds the gate's
// bound after a candidate passed on the search data but failed on the holdout set.
Repaired repair(Evaluator& evaluator, const Recipe& recipe, double least_sqnr,
                const std::function<bool(double)>& has_time);

// Chooses parts of a model for higher precision (FP32, or more bits), so that the model passes at the least
// cost. Sensitivity and tune define options, costs and the test differently. (For static recipes, whose node
// times are known, see quantize/float_choice.h.)
//
// The noise of each option alone is measured before. Noises of independent options add up, which gives an
// estimate of the number of options needed. Options are ordered by noise per cost. The shortest passing
// prefix of that list is found by doubling and bisection, starting from the estimate. Options that turn out
// not to be needed are removed, the most expensive first.

inline constexpr double kDestroyed = 1e6;  // replaces infinite and NaN noise

struct Option {
  double noise = 0;  // noise-to-signal ratio at the outputs that the option removes
  double cost = 0;   // cost of choosing the option, in any unit
};

using Indices = std::vector<std::size_t>;  // positions in the list of options

struct PassingTest {
  std::function<bool(const Indices& chosen)> passes;
  std::function<bool()> may_go_on = [] { return true; };  // called before each test
};

// Returns the options in descending order of noise per cost.
Indices by_worth(const std::vector<Option>& options);

// Estimates the number of options needed to reduce the noise from `all` to `limit`; at least one, unless
// there are no options.
std::size_t expected_count(const std::vector<Option>& options, double all, double limit);

// Returns the chosen options in the order of by_worth(); nothing if no choice passed.
std::optional<Indices> cheapest_passing(const std::vector<Option>& options, double all, double limit,
                                        const PassingTest& ask);

// Removes options from `chosen`, which passes and has its most expensive option last, as long as the rest
// passes.
Indices drop_unneeded(Indices chosen, const PassingTest& ask);

// Gain and cost of moving a group of layers to a higher precision than in a recipe, measured one group at a
// time.

struct LayerCost {
  std::string name;
  std::vector<std::string> outputs;  // the layers' keys in Recipe::nodes
  std::uint64_t values = 0;          // number of weights
  double gain = 0;                   // reduction of the noise-to-signal ratio at the model's outputs
  double cost = 0;                   // added time relative to the original's; negative if it gets faster
};

// Returns the layers of `recipe` in one of these formats, alone or, if there are many, in blocks. Measures
// nothing.
std::vector<LayerCost> group_by_format(Evaluator& evaluator, const Recipe& recipe,
                                       const std::vector<Format>& formats);

// The same with gains and costs. Unless `is_timed`, costs are relative to the original's bytes. `has_time` is
// called before each part of the work with its expected seconds; if it returns false, only the groups
// measured so far are returned.
std::vector<LayerCost> measure_layer_costs(Evaluator& evaluator, const Recipe& recipe,
                                           const std::vector<Format>& formats, bool is_timed,
                                           const std::function<bool(double)>& has_time);

// Returns `recipe` with these layers in another format.
Recipe with(const Recipe& recipe, const std::vector<LayerCost>& layer_costs, Format format);

// Finds the layers of a recipe that are faster in FP32 than in INT8, by timing whole segments of the graph.
//
// Segments are timed because a single FP32 layer pays for quantizing and dequantizing around it, which hides
// its gain. The two halves of the model are tried first. A segment that is faster in FP32 is kept there, and
// its halves are tried back in INT8; segments that are not faster are split in halves. Segments with the
// greatest expected speedup come first.

// Returns the groups to move to FP32, which may be empty. `has_time` is called before each timed comparison
// with its expected seconds.
std::vector<LayerCost> faster_in_floats(Evaluator& evaluator, const Recipe& recipe,
                                        const std::function<bool(double)>& has_time);

}  // namespace ounce::search
