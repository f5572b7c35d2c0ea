// Which layers of a recipe are faster in floats than on integers, by timing whole stretches of the graph.
//
// A layer alone in floats pays for the way from integers and back, so that what is slow is not seen one layer
// at a time. The two halves are tried first; a stretch that makes the model faster stays in floats, but for
// halves of it that are better back on integers, and of those that do not the halves are tried, where the
// hope is greatest first.
#pragma once

#include <functional>
#include <vector>

#include "search/tune/evaluator.h"
#include "search/tune/layer_cost.h"

namespace ounce::search {

// The groups that are to leave the integers; none when all are well where they are. `has_time` is asked
// before each contest with the seconds it will take.
std::vector<LayerCost> faster_in_floats(Evaluator& evaluator, const Recipe& recipe,
                                        const std::function<bool(double)>& has_time);

}  // namespace ounce::search
