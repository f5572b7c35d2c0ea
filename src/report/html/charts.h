// Charts as SVG, with colors from the style sheet. Each series also has its own dash or mark, so that it can
// be distinguished without colors. Marks have tooltips (<title>), and screen readers get the sentence `says`.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "report/html/section.h"

namespace ounce::report::html {

struct Point {
  double x = 0, y = 0;
  std::string says;  // the tooltip
};

struct Series {
  std::string name;
  std::vector<Point> points;
};

struct Axis {
  std::string title, unit;  // "size", "%"
  // The smallest span of the axis, so that nearly equal values are drawn close together.
  double least_span = 0;
};

// Lines through points; `marks` draws the points, with tooltips.
struct LineChart {
  std::string says;
  Axis x, y;
  std::vector<Series> series;
  bool marks = false;
  bool is_joined = true;        // connect the points by a line
  bool begins_at_zero = false;  // the y axis
};
Markup draw(const LineChart& chart);

// Points of several kinds, and a line through the Pareto front.
enum class PointKind { kPassed, kFailed, kChosen, kOriginal };
struct ScatterPoint {
  double x = 0, y = 0;
  PointKind kind = PointKind::kPassed;
  std::string says;
};
struct ScatterChart {
  std::string says;
  Axis x, y;
  std::vector<ScatterPoint> points;
  std::vector<Point> front;
};
Markup draw(const ScatterChart& chart);

// Ratios with their 95 % confidence intervals, and a line at 1.
struct Interval {
  std::string name;
  double value = 1, low = 1, high = 1;
  std::string says;
};
Markup draw_intervals(const std::vector<Interval>& intervals, const std::string& says);

// A histogram. Bins outside of the range are drawn as clipped.
struct HistogramChart {
  std::string says;
  double low = 0, high = 0;  // of the bins
  std::vector<double> counts;
  std::optional<double> range_low, range_high;
};
Markup draw(const HistogramChart& chart);

// A waveform from the extremes of its intervals.
Markup draw_waveform(const std::vector<double>& lowest, const std::vector<double>& highest,
                     const std::string& says);

// A bar in a table cell; `share` of the width, from 0 to 1.
Markup draw_bar(double share, Literal kind);

// The frame of charts with two axes: grid lines, tick labels, titles.

// Maps values to coordinates.

struct Scale {
  double low = 0, high = 1;      // values
  double first = 0, last = 100;  // coordinates

  double operator()(double value) const { return first + (value - low) / (high - low) * (last - first); }
};

// The range of values of an axis.
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

// Returns about `count` round values from low to high.
std::vector<double> ticks(double low, double high, int count);
// Formats a tick with as few digits as distinguish it from its neighbors.
std::string tick_text(double value, double step);

struct Plot {
  static constexpr double kWidth = 640, kHeight = 260;
  static constexpr double kLeft = 60, kRight = 16, kTop = 12, kBottom = 42;

  Plot(const Extent& x_values, const Extent& y_values);
  Markup frame(const Axis& x_axis, const Axis& y_axis) const;

  Scale x, y;
};

// A complete chart, with its description.
Markup svg(double width, double height, const std::string& says, const Markup& content);
Markup svg_text(double x, double y, Literal kind, const std::string& words);
Markup svg_line(double x1, double y1, double x2, double y2, Literal kind);
// The tooltip of a mark.
Markup hint(const std::string& says);

}  // namespace ounce::report::html
