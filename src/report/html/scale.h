// From figures to places on a chart, and the round figures that stand at an axis.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace ounce::report::html {

struct Scale {
  double low = 0, high = 1;      // figures
  double first = 0, last = 100;  // places

  double operator()(double value) const { return first + (value - low) / (high - low) * (last - first); }
};

// Grown until it is no single point.
struct Extent {
  double low = 0, high = 0;
  bool is_empty = true;

  void add(double value) {
    low = is_empty ? value : std::min(low, value);
    high = is_empty ? value : std::max(high, value);
    is_empty = false;
  }
  void widen(double share);
  void span_at_least(double span);  // around its middle
};

// Round figures from low to high, about `count` of them.
std::vector<double> ticks(double low, double high, int count);
// As few digits as tell neighbours apart.
std::string tick_text(double value, double step);

}  // namespace ounce::report::html
