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

}  // namespace ounce::search
