// The range that was chosen for a value, and what its codes are expected to lose: found once, however many
// plans ask. (The search for a static recipe makes dozens of plans, each for all values.)
//
//   const RangeChoice choice = memo.choose(statistics, CalibrationMethod::kMse, format, 99.99);
//   choice.range, choice.noise / choice.signal
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include "observe/calibrators.h"
#include "observe/statistics.h"

namespace ounce::observe {

struct RangeChoice {
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kMinMax;  // what kAuto has come to
  double noise = 0, signal = 0;                           // mean squares
};

RangeChoice choose_and_predict(const Statistics& statistics, CalibrationMethod method,
                               const CodeFormat& format, double percentile);

// Any number of threads may ask. Statistics are told apart by where they are and by how much they have seen.
class RangeMemo {
 public:
  RangeChoice choose(const Statistics& statistics, CalibrationMethod method, const CodeFormat& format,
                     double percentile);

 private:
  using Key = std::tuple<const Statistics*, std::uint64_t, std::uint64_t, CalibrationMethod, int, bool, double>;

  std::mutex mutex_;
  std::map<Key, RangeChoice> choices_;
};

}  // namespace ounce::observe
