// Calibration: runs a model on data once and records statistics of its inner values.
#pragma once

#include <ounce/quantize.h>
#include <ounce/recipe.h>
#include <ounce/verify.h>

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
  // Ranges of every second batch only, from the first one on, if there are enough batches. Decisions based on
  // these ranges can be tested on the other batches. Empty if a recurrent state is carried.
  std::optional<calibration::Ranges> half;
  std::vector<std::string> notes;
  std::optional<calibration::Coverage> covers;  // samples of the data; empty for random inputs
};

// Checks the options before the work. Throws Error{kUsage}.
void require_observable(const CalibrateOptions& options, const std::filesystem::path& source);

// Runs the calibration. `source` is the user's model, whose preprocessing metadata applies and whose name
// appears in messages. Throws Error{kUsage} for invalid options.
Observation observe_activations(const model::Exposed& model, const std::filesystem::path& source,
                                const CalibrateOptions& options);

// Chooses `count` runs that rank candidates as all runs would: half of them are the runs with the largest
// error of a first candidate, the others are evenly spaced. The errors of a classifier, for example, are
// concentrated in a few samples near its decision boundary.
//
// `noise`: error of each of `runs` runs, by output part; empty if unknown. Returns the indices of the chosen
// runs in ascending order; the first runs if a recurrent state is carried.
std::vector<std::size_t> informative_samples(const std::vector<std::vector<evaluate::Difference>>& noise,
                                             std::size_t runs, std::size_t count, bool is_state_carried);

// Returns the histogram of a weight for reports, with bins of equal width. Uses at most a million values,
// evenly spread, and ignores values that are not finite.
ValueHistogram histogram_of(const quant::FloatSource& weight);
// The same for an activation. Counts values outside the chosen `range` as clipped.
ValueHistogram histogram_of(const calibration::Statistics& value, const ValueRange& range);

}  // namespace ounce::quantization
