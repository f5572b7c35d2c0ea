// How much noise a format puts on what each layer gives, from statistics alone: nothing is run.
//
//   y = W x      noise(y) / signal(y) = noise(W) / signal(W) + noise(x) / signal(x) + rounding of y
//
// which takes weights and inputs for independent. The noise of weights is that of their codes, the noise of
// activations is what calibration predicts of theirs; scales that are found while the model runs are unknown
// here, so for dynamic arithmetic only the weights count.
#pragma once

#include <ounce/recipe.h>
#include <ounce/sensitivity.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "quantize/prepared_model.h"
#include "search/tune/layers.h"

namespace ounce::search {

// Noise over signal for each layer. `layers` are those of the prepared model.
std::vector<double> estimate_noise(const quantization::PreparedModel& prepared, const Recipe& recipe,
                                   const std::vector<Layer>& layers);

// What people say of layers (the first and the last are sensitive, attention is), told only where the
// measurements of this model say so.

// Of a result whose groups are measured and stand worst first.
std::vector<std::string> find_findings(const SensitivityResult& result);

// Which groups to leave out so that what is left reaches a limit, at the least cost in bytes
// (search/tune/repair.h)?

struct GroupNoise {
  std::optional<double> alone;    // noise over signal of the outputs; none: not measured
  std::optional<double> without;  // … when all but this is quantized
  std::uint64_t bytes = 0;        // of its weights
};

struct Exclusion {
  std::set<std::size_t> groups;
  double noise = 0;  // measured
  bool is_enough = false;
};

// `all` is the noise when everything is quantized; `measure` tells the noise without some groups. The best
// that was seen, when nothing is enough.
Exclusion choose_exclusion(const std::vector<GroupNoise>& groups, double all, double limit,
                           const std::function<double(const std::set<std::size_t>&)>& measure);

}  // namespace ounce::search
