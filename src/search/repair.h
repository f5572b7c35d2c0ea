// Brings a recipe that is fast but does not pass its gate to pass it, at the least cost.
//
// Every layer that it treats roughly is treated carefully alone, and what that brings in quality and costs in
// time is measured. The layers that bring the most for their cost follow each other until the gate is passed;
// those that turn out not to be needed go back; what is left is stored in as few bits as the gate allows.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "search/evaluator.h"

namespace ounce::search {

struct Repaired {
  std::optional<Recipe> recipe;  // nothing when it cannot be repaired in the time there is
  std::string what;              // "4 layers in floats"
};

// `least_sqnr`: dB that the worst output must reach besides passing the gate: more than the gate asks for
// when it turned out that what just passes does not pass on other data.
Repaired repair(Evaluator& evaluator, const Recipe& recipe, double least_sqnr,
                const std::function<bool(double)>& has_time);

}  // namespace ounce::search
