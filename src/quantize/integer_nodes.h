// The nodes of a model that a recipe lets compute on integers, and how much they compute.
#pragma once

#include <ounce/recipe.h>

#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

struct IntegerNode {
  std::string output;               // names it
  std::vector<std::string> values;  // that are codes: what it takes, what it gives
  std::string label;
  double work = 0;  // multiplications for one sample
};

// Those that have a weight, in the order of the graph.
std::vector<IntegerNode> integer_nodes(const PreparedModel& prepared, const Recipe& recipe, ThreadPool& pool);

}  // namespace ounce::quantization
