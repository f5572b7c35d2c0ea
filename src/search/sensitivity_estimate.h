// How much noise a format puts on what each layer gives, from statistics alone: nothing is run.
//
//   y = W x      noise(y) / signal(y) = noise(W) / signal(W) + noise(x) / signal(x) + rounding of y
//
// which takes weights and inputs for independent. The noise of weights is that of their codes, the noise of
// activations is what calibration predicts of theirs; scales that are found while the model runs are unknown
// here, so for dynamic arithmetic only the weights count.
#pragma once

#include <ounce/recipe.h>

#include <vector>

#include "make/prepared_model.h"
#include "search/layers.h"

namespace ounce::search {

// Noise over signal for each layer. `layers` are those of the prepared model.
std::vector<double> estimate_noise(const make::PreparedModel& prepared, const Recipe& recipe,
                                   const std::vector<Layer>& layers);

}  // namespace ounce::search
