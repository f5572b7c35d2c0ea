// Charts as SVG: they scale with the page, print sharp, and take their colours from the style sheet. A series
// has a colour, and a dash or a mark of its own as well, so that it is told apart without colours. Whoever
// points at a mark reads its figures (<title>), whoever cannot see gets the sentence `says`.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "report/html/section.h"

namespace ounce::report::html {

struct Point {
  double x = 0, y = 0;
  std::string says;  // when somebody points at it
};

struct Series {
  std::string name;
  std::vector<Point> points;
};

struct Axis {
  std::string title, unit;  // "size", "%"
  // What the axis spans at least, so that figures which are nearly the same are drawn close together.
  double least_span = 0;
};

// Lines through points; with `marks`, points that can be pointed at.
struct LineChart {
  std::string says;
  Axis x, y;
  std::vector<Series> series;
  bool marks = false;
  bool is_joined = true;        // by a line
  bool begins_at_zero = false;  // the y axis
};
Markup draw(const LineChart& chart);

// Points of several kinds, and a line through those on the front.
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

// Ratios with the interval in which they are with 95 %, beside a line at 1.
struct Interval {
  std::string name;
  double value = 1, low = 1, high = 1;
  std::string says;
};
Markup draw_intervals(const std::vector<Interval>& intervals, const std::string& says);

// How often values occur; what lies outside of [low, high] is drawn as clipped.
struct HistogramChart {
  std::string says;
  double low = 0, high = 0;  // of the bins
  std::vector<double> counts;
  std::optional<double> range_low, range_high;
};
Markup draw(const HistogramChart& chart);

// A sound by its extremes.
Markup draw_waveform(const std::vector<double>& lowest, const std::vector<double>& highest,
                     const std::string& says);

// A bar for a cell of a table: `share` of the width.
Markup draw_bar(double share, Literal kind);

// The frame that charts with two axes share: lines behind, figures beside, titles.

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
