#include "observe/range_memo.h"

namespace ounce::observe {

RangeChoice choose_and_predict(const Statistics& statistics, CalibrationMethod method,
                               const CodeFormat& format, double percentile) {
  RangeChoice choice;
  if (method == CalibrationMethod::kAuto) {
    const Choice best = choose_best(statistics, format);
    choice.range = best.range;
    choice.method = best.method;
  } else {
    choice.range = choose_range(statistics, method, format, percentile);
    choice.method = method;
  }
  choice.noise = predicted_error(statistics, choice.range, format);
  choice.signal = mean_square(statistics);
  return choice;
}

RangeChoice RangeMemo::choose(const Statistics& statistics, CalibrationMethod method,
                              const CodeFormat& format, double percentile) {
  const Key key{&statistics,   statistics.samples(), statistics.count(), method,
                format.levels, format.is_symmetric,  percentile};
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = choices_.find(key); found != choices_.end()) return found->second;
  }
  const RangeChoice choice = choose_and_predict(statistics, method, format, percentile);
  const std::scoped_lock lock(mutex_);
  choices_.emplace(key, choice);
  return choice;
}

}  // namespace ounce::observe
