// The frame that charts with two axes share: lines behind, figures beside, titles.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "report/html/charts.h"

namespace ounce::report::html {

// From figures to places on a chart, and the round figures that stand at an axis.

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

struct Plot {
  static constexpr double kWidth = 640, kHeight = 260;
  static constexpr double kLeft = 60, kRight = 16, kTop = 12, kBottom = 42;

  Plot(const Extent& x_values, const Extent& y_values);
  Markup frame(const Axis& x_axis, const Axis& y_axis) const;

  Scale x, y;
};

// A whole chart: a figure that says what it shows.
Markup svg(double width, double height, const std::string& says, const Markup& content);
Markup svg_text(double x, double y, Literal kind, const std::string& words);
Markup svg_line(double x1, double y1, double x2, double y2, Literal kind);
// What shows when somebody points at it.
Markup hint(const std::string& says);

}  // namespace ounce::report::html
