// What it brings and what it costs to treat a group of layers more carefully than a recipe does: measured,
// one group at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "search/tune/evaluator.h"
#include "search/tune/layers.h"

namespace ounce::search {

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
