// Few runs to judge variants by that tell what all of them would: half of them are those where a first variant
// made the most noise, the others are evenly spaced.
//
// Errors of a classifier are of that kind: most samples come out the same whatever is done to the numbers,
// and a few that were close are all that differs.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/difference.h"

namespace ounce::make {

// `noise`: of each of `runs` runs, by part of the outputs; empty when nothing is known. Their numbers, in rising order;
// the first ones where a state is carried from run to run.
std::vector<std::size_t> telling_runs(const std::vector<std::vector<measure::Difference>>& noise,
                                      std::size_t runs, std::size_t count, bool is_state_carried);

}  // namespace ounce::make
