#include "report/html/plot.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace ounce::report::html {

Plot::Plot(const Extent& x_values, const Extent& y_values)
    : x{x_values.low, x_values.high, kLeft, kWidth - kRight},
      y{y_values.low, y_values.high, kHeight - kBottom, kTop} {}

Markup Plot::frame(const Axis& x_axis, const Axis& y_axis) const {
  Markup made;
  const auto titled = [](const Axis& axis) {
    return axis.unit.empty() ? axis.title : axis.title + " (" + axis.unit + ")";
  };
  const std::vector<double> rows = ticks(y.low, y.high, 5), columns = ticks(x.low, x.high, 7);
  const double row_step = rows.size() > 1 ? rows[1] - rows[0] : 0,
               column_step = columns.size() > 1 ? columns[1] - columns[0] : 0;
  for (const double value : rows) {
    made += svg_line(kLeft, y(value), kWidth - kRight, y(value), "grid");
    made += svg_text(kLeft - 6, y(value) + 4, "tick end", tick_text(value, row_step));
  }
  for (const double value : columns)
    made += svg_text(x(value), kHeight - kBottom + 16, "tick middle", tick_text(value, column_step));
  made += svg_line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "axis");
  made += svg_text((kLeft + kWidth - kRight) / 2, kHeight - 6, "axis-title middle", titled(x_axis));
  const std::string turn = "rotate(-90 12 " + coordinate((kTop + kHeight - kBottom) / 2) + ")";
  made += element("text",
                  {{"x", "12"},
                   {"y", coordinate((kTop + kHeight - kBottom) / 2)},
                   {"class", "axis-title middle"},
                   {"transform", turn}},
                  text(titled(y_axis)));
  return made;
}

Markup svg(double width, double height, const std::string& says, const Markup& content) {
  return element("svg",
                 {{"viewBox", "0 0 " + coordinate(width) + " " + coordinate(height)},
                  {"role", "img"},
                  {"aria-label", plain(says)},
                  {"class", "chart"}},
                 content);
}

Markup svg_text(double x, double y, Literal kind, const std::string& words) {
  return element("text", {{"x", coordinate(x)}, {"y", coordinate(y)}, {"class", kind.text()}}, text(words));
}

Markup svg_line(double x1, double y1, double x2, double y2, Literal kind) {
  return lone_element("line", {{"x1", coordinate(x1)},
                               {"y1", coordinate(y1)},
                               {"x2", coordinate(x2)},
                               {"y2", coordinate(y2)},
                               {"class", kind.text()}});
}

Markup hint(const std::string& says) { return says.empty() ? Markup() : element("title", text(says)); }

void Extent::widen(double share) {
  const double by = high > low ? (high - low) * share : std::max(std::fabs(low) * share, 1e-9);
  low -= by;
  high += by;
}

void Extent::span_at_least(double span) {
  const double missing = span - (high - low);
  if (!(missing > 0)) return;
  low -= missing / 2;
  high += missing / 2;
}

std::vector<double> ticks(double low, double high, int count) {
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  const double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough)));
  const double factor = rough / power;
  const double step = power * (factor > 5 ? 10 : factor > 2 ? 5 : factor > 1 ? 2 : 1);
  std::vector<double> all;
  constexpr std::size_t kMost = 32;
  for (double at = std::ceil(low / step - 1e-9); at * step <= high + step * 1e-9 && all.size() < kMost; ++at)
    all.push_back(at * step);
  return all;
}

std::string tick_text(double value, double step) {
  if (std::fabs(value) >= 1e6 || (step > 0 && step < 1e-5)) return fmt::format("{:.3g}", value);
  const int digits =
      step > 0 ? static_cast<int>(std::clamp(-std::floor(std::log10(step) + 1e-9), 0.0, 6.0)) : 2;
  return fmt::format("{:.{}f}", std::fabs(value) < step * 1e-6 ? 0.0 : value, digits);
}

}  // namespace ounce::report::html
