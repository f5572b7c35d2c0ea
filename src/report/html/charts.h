// Charts as SVG: they scale with the page, print sharp, and take their colours from the style sheet. A series
// has a colour, and a dash or a mark of its own as well, so that it is told apart without colours. Whoever
// points at a mark reads its figures (<title>), whoever cannot see gets the sentence `says`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/html/markup.h"

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

}  // namespace ounce::report::html
