// One pass over the data that looks at the inner values of a model.
#pragma once

#include <ounce/calibrate.h>
#include <ounce/pictures.h>
#include <ounce/recipe.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibration/ranges.h"
#include "calibration/statistics.h"
#include "evaluate/compare/difference.h"
#include "model/emitter.h"
#include "quant/float_source.h"

namespace ounce::quantization {

struct Observation {
  calibration::Ranges ranges;
  // Of every second batch alone, beginning with the first one, when there are enough of them: what is decided
  // by these ranges can be judged on the other batches. None where a state goes from sample to sample.
  std::optional<calibration::Ranges> half;
  std::vector<std::string> notes;
  std::optional<calibration::Coverage> covers;  // which samples of the data; nothing for made-up inputs
};

// Checks the options before the work. Throws Error{kUsage}.
void require_observable(const CalibrateOptions& options, const std::filesystem::path& source);

// `source` is where the model came from: its contract holds, and people know it. Throws Error{kUsage} for
// options that make no sense.
Observation observe_activations(const model::Exposed& model, const std::filesystem::path& source,
                                const CalibrateOptions& options);

// Chooses few runs that rank candidates as all runs would: half of them are the runs where a first candidate
// made the most noise, the others are evenly spaced.
//
// Errors of a classifier are of that kind: most samples come out the same whatever is done to the numbers,
// and a few that were close are all that differs.

// `noise`: of each of `runs` runs, by part of the outputs; empty when it is unknown. Returns the numbers of
// the chosen runs in ascending order; the first runs where a state is carried from run to run.
std::vector<std::size_t> informative_samples(const std::vector<std::vector<evaluate::Difference>>& noise,
                                             std::size_t runs, std::size_t count, bool is_state_carried);

// The distribution of weights and activations in bins of one width, for people to look at.

// Of a million values, evenly spread over the weight, if it has more. Values that are not finite are left
// out.
ValueHistogram histogram_of(const quant::FloatSource& weight);
// `range` is what was chosen: what is outside of it is clipped.
ValueHistogram histogram_of(const calibration::Statistics& value, const ValueRange& range);

}  // namespace ounce::quantization
