// Chooses the quantization range of an activation from its statistics.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include "calibration/statistics.h"

namespace ounce::calibration {

struct CodeFormat {
  int levels = 256;           // number of quantized values
  bool is_symmetric = false;  // zero is in the middle
};

inline constexpr double kPercentile = 99.99;

// Chooses the range by `method`. It always contains zero, as INT8 kernels require. May return low == high for
// a value that is constant or was never observed; callers must handle this.
ValueRange choose_range(const Statistics& statistics, CalibrationMethod method, const CodeFormat& format = {},
                        double percentile = kPercentile);

struct Choice {
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kMinMax;
};
// Implements kAuto: chooses the method with the least predicted error.
Choice choose_best(const Statistics& statistics, const CodeFormat& format = {});

// The mean squared error of quantization with this range: rounding inside, clipping outside.
double predicted_error(const Statistics& statistics, const ValueRange& range, const CodeFormat& format = {});
// The mean square of the value itself.
double mean_square(const Statistics& statistics);

// The chosen range of an activation and its predicted quantization error.
struct RangeChoice {
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kMinMax;  // the one that kAuto chose
  double noise = 0, signal = 0;                           // mean squares
};

RangeChoice choose_and_predict(const Statistics& statistics, CalibrationMethod method,
                               const CodeFormat& format, double percentile);

// Caches choices, because the search for a static recipe makes dozens of plans for the same values.
//
//   const RangeChoice choice = memo.choose(statistics, CalibrationMethod::kMse, format, 99.99);
//   choice.range, choice.noise / choice.signal
//
// Thread-safe. Statistics are identified by their address and their number of samples.
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
