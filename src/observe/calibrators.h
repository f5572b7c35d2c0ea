// From what a value looked like to the range that its codes should cover.
#pragma once

#include <ounce/recipe.h>

#include "observe/statistics.h"

namespace ounce::observe {

struct CodeFormat {
  int levels = 256;           // codes there are
  bool is_symmetric = false;  // zero is the middle one
};

inline constexpr double kPercentile = 99.99;

// The range that `method` chooses; always holds zero, as every integer kernel needs it. A value that never
// varies, or was never seen, gets a range of its own size or of nothing: callers handle low == high.
ValueRange choose_range(const Statistics& statistics, CalibrationMethod method, const CodeFormat& format = {},
                        double percentile = kPercentile);

struct Choice {
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kMinMax;
};
// What kAuto means: the method whose range has the least predicted error.
Choice choose_best(const Statistics& statistics, const CodeFormat& format = {});

// The mean squared error of a value that is coded with this range: rounding inside of it, clipping outside.
double predicted_error(const Statistics& statistics, const ValueRange& range, const CodeFormat& format = {});
// The mean square of the value itself.
double mean_square(const Statistics& statistics);

}  // namespace ounce::observe
