// Chooses the range that the codes of a value cover, from its statistics.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include "calibration/statistics.h"

namespace ounce::calibration {

struct CodeFormat {
  int levels = 256;           // number of codes
  bool is_symmetric = false;  // zero is the middle one
};

inline constexpr double kPercentile = 99.99;

// The range that `method` chooses. It contains zero, which every integer kernel needs. A value that never
// varied, or was never seen, may get a range with low == high, which callers handle.
ValueRange choose_range(const Statistics& statistics, CalibrationMethod method, const CodeFormat& format = {},
                        double percentile = kPercentile);

struct Choice {
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kMinMax;
};
// What kAuto means: the method whose range has the least predicted error.
Choice choose_best(const Statistics& statistics, const CodeFormat& format = {});

// The mean squared error of a value that is coded with this range: rounding inside, clipping outside.
double predicted_error(const Statistics& statistics, const ValueRange& range, const CodeFormat& format = {});
// The mean square of the value itself.
double mean_square(const Statistics& statistics);

// The range that was chosen for a value, and the error that its codes are expected to make.
struct RangeChoice {
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kMinMax;  // the one that kAuto chose
  double noise = 0, signal = 0;                           // mean squares
};

RangeChoice choose_and_predict(const Statistics& statistics, CalibrationMethod method,
                               const CodeFormat& format, double percentile);

// Remembers choices: the search for a static recipe makes dozens of plans, each for all values.
//
//   const RangeChoice choice = memo.choose(statistics, CalibrationMethod::kMse, format, 99.99);
//   choice.range, choice.noise / choice.signal
//
// Any number of threads may ask. Statistics are identified by their address and the number of their samples.
class RangeMemo {
 public:
  RangeChoice choose(const Statistics& statistics, CalibrationMethod method, const CodeFormat& format,
                     double percentile);

 private:
  using Key =
      std::tuple<const Statistics*, std::uint64_t, std::uint64_t, CalibrationMethod, int, bool, double>;

  std::mutex mutex_;
  std::map<Key, RangeChoice> choices_;
};

}  // namespace ounce::calibration
