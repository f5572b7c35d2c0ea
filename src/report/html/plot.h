// The frame that charts with two axes share: lines behind, figures beside, titles.
#pragma once

#include <string>

#include "report/html/chart.h"
#include "report/html/scale.h"

namespace ounce::report::html {

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
