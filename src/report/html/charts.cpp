#include "report/html/charts.h"

#include <fmt/format.h>

#include <algorithm>
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

namespace {

// Draws a shape for each kind; its color is in the style sheet.
Markup shape_of(PointKind kind, double x, double y, const std::string& says) {
  const auto at = [&](double dx, double dy) { return coordinate(x + dx) + "," + coordinate(y + dy); };
  switch (kind) {
    case PointKind::kPassed:
      return element("circle",
                     {{"cx", coordinate(x)}, {"cy", coordinate(y)}, {"r", "5"}, {"class", "point passed"}},
                     hint(says));
    case PointKind::kFailed:
      return element("path",
                     {{"d", fmt::format("M{}L{}M{}L{}", at(-4, -4), at(4, 4), at(-4, 4), at(4, -4))},
                      {"class", "point failed"}},
                     hint(says));
    case PointKind::kChosen:
      return element("path",
                     {{"d", fmt::format("M{}L{}L{}L{}Z", at(0, -8), at(8, 0), at(0, 8), at(-8, 0))},
                      {"class", "point chosen"}},
                     hint(says));
    case PointKind::kOriginal: break;
  }
  return element("rect",
                 {{"x", coordinate(x - 5)},
                  {"y", coordinate(y - 5)},
                  {"width", "10"},
                  {"height", "10"},
                  {"class", "point original"}},
                 hint(says));
}

Markup kinds_legend(const std::vector<ScatterPoint>& points) {
  Markup entries;
  const auto add = [&](PointKind kind, Literal name) {
    for (const ScatterPoint& point : points) {
      if (point.kind != kind) continue;
      entries +=
          element("li", element("svg", {{"viewBox", "0 0 20 20"}, {"class", "key"}, {"aria-hidden", "true"}},
                                shape_of(kind, 10, 10, "")) +
                            Markup(name));
      return;
    }
  };
  add(PointKind::kChosen, "chosen");
  add(PointKind::kPassed, "passed");
  add(PointKind::kFailed, "failed");
  add(PointKind::kOriginal, "original");
  return element("ul", {{"class", "legend"}}, entries);
}

}  // namespace

Markup draw(const ScatterChart& chart) {
  Extent x, y;
  for (const ScatterPoint& point : chart.points) {
    x.add(point.x);
    y.add(point.y);
  }
  if (x.is_empty) return {};
  x.span_at_least(chart.x.least_span);
  y.span_at_least(chart.y.least_span);
  x.widen(0.08);
  y.widen(0.1);
  const Plot plot(x, y);
  Markup content = plot.frame(chart.x, chart.y);
  std::string path;
  for (const Point& point : chart.front)
    path += fmt::format("{}{},{}", path.empty() ? "" : " ", coordinate(plot.x(point.x)),
                        coordinate(plot.y(point.y)));
  if (!path.empty()) content += lone_element("polyline", {{"points", path}, {"class", "line front"}});
  // Draw the chosen point last, on top of the others.
  for (const bool is_chosen : {false, true}) {
    for (const ScatterPoint& point : chart.points) {
      if ((point.kind == PointKind::kChosen) == is_chosen)
        content += shape_of(point.kind, plot.x(point.x), plot.y(point.y), point.says);
    }
  }
  return element("figure",
                 svg(Plot::kWidth, Plot::kHeight, chart.says, content) + kinds_legend(chart.points));
}

Markup draw_intervals(const std::vector<Interval>& intervals, const std::string& says) {
  if (intervals.empty()) return {};
  constexpr double kRow = 34, kFoot = 30, kSide = 16, kNames = 16;
  Extent values;
  values.add(1);
  for (const Interval& one : intervals) {
    values.add(one.low);
    values.add(one.high);
  }
  values.widen(0.08);
  const double height = kRow * static_cast<double>(intervals.size()) + kFoot;
  const Scale x{values.low, values.high, kSide, Plot::kWidth - kSide};
  Markup content;
  const std::vector<double> marks = ticks(values.low, values.high, 7);
  for (const double value : marks)
    content += svg_text(x(value), height - 12, "tick middle",
                        tick_text(value, marks.size() > 1 ? marks[1] - marks[0] : 0) + " ×");
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const Interval& one = intervals[i];
    const double top = kRow * static_cast<double>(i), y = top + kNames + 8;
    content += svg_text(kSide, top + kNames - 3, "label", one.name);
    content += svg_line(x(1), y - 8, x(1), y + 8, "axis");
    content += svg_line(x(one.low), y, x(one.high), y, "interval");
    content += element(
        "circle",
        {{"cx", coordinate(x(one.value))}, {"cy", coordinate(y)}, {"r", "5"}, {"class", "mark series-1"}},
        hint(one.says));
  }
  return element("figure", svg(Plot::kWidth, height, says, content));
}

namespace {

constexpr std::size_t kKinds = 6;  // series classes in the style sheet

std::string series_class(const char* what, std::size_t number) {
  return fmt::format("{} series-{}", what, number % kKinds + 1);
}

Markup legend(const std::vector<Series>& series) {
  if (series.size() < 2) return {};
  Markup entries;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Markup key = element(
        "svg", {{"viewBox", "0 0 28 10"}, {"class", "key"}, {"aria-hidden", "true"}},
        lone_element(
            "line",
            {{"x1", "0"}, {"y1", "5"}, {"x2", "28"}, {"y2", "5"}, {"class", series_class("line", i)}}));
    entries += element("li", key + text(series[i].name));
  }
  return element("ul", {{"class", "legend"}}, entries);
}

}  // namespace

Markup draw(const LineChart& chart) {
  Extent x, y;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      x.add(point.x);
      y.add(point.y);
    }
  }
  if (x.is_empty) return {};
  x.widen(0.02);
  if (chart.begins_at_zero) {
    y.low = 0;
    y.high = y.high > 0 ? 1.04 * y.high : 1;
  } else {
    y.widen(0.08);
  }
  const Plot plot(x, y);
  Markup content = plot.frame(chart.x, chart.y);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    std::string path;
    for (const Point& point : chart.series[i].points)
      path += fmt::format("{}{},{}", path.empty() ? "" : " ", coordinate(plot.x(point.x)),
                          coordinate(plot.y(point.y)));
    if (chart.is_joined)
      content += lone_element("polyline", {{"points", path}, {"class", series_class("line", i)}});
    for (const Point& point : chart.series[i].points) {
      if (!chart.marks && point.says.empty()) continue;
      content += element("circle",
                         {{"cx", coordinate(plot.x(point.x))},
                          {"cy", coordinate(plot.y(point.y))},
                          {"r", "3.5"},
                          {"class", series_class("mark", i)}},
                         hint(point.says));
    }
  }
  return element("figure", svg(Plot::kWidth, Plot::kHeight, chart.says, content) + legend(chart.series));
}

// Charts without axes: histograms, waveforms, and bars in tables.
namespace {

constexpr double kSmallWidth = 220, kSmallHeight = 70, kFoot = 14;

}  // namespace

Markup draw(const HistogramChart& chart) {
  if (chart.counts.empty()) return {};
  Extent values;
  values.add(chart.low);
  values.add(chart.high);
  if (chart.range_low) values.add(*chart.range_low);
  if (chart.range_high) values.add(*chart.range_high);
  if (!(values.high > values.low)) values.widen(0.5);
  const Scale x{values.low, values.high, 2, kSmallWidth - 2};
  // Use square roots of the counts, because a linear scale hides the tails, which decide the range.
  double most = 0;
  for (const double count : chart.counts) most = std::max(most, std::sqrt(std::max(count, 0.0)));
  const double floor = kSmallHeight - kFoot;
  const double width = (chart.high - chart.low) / static_cast<double>(chart.counts.size());
  Markup content;
  if (chart.range_low && chart.range_high) {
    content += lone_element("rect",
                            {{"x", coordinate(x(*chart.range_low))},
                             {"y", "0"},
                             {"width", coordinate(std::max(0.0, x(*chart.range_high) - x(*chart.range_low)))},
                             {"height", coordinate(floor)},
                             {"class", "range"}});
  }
  std::string inside, outside;
  for (std::size_t i = 0; i < chart.counts.size(); ++i) {
    if (!(chart.counts[i] > 0) || !(most > 0)) continue;
    const double low = chart.low + width * static_cast<double>(i), middle = low + width / 2;
    const double height = std::max(1.0, std::sqrt(chart.counts[i]) / most * (floor - 4));
    const double left = x(low), wide = std::max(1.0, x(low + width) - left - 0.4);
    const bool is_clipped =
        (chart.range_low && middle < *chart.range_low) || (chart.range_high && middle > *chart.range_high);
    (is_clipped ? outside : inside) += "M" + coordinate(left) + "," + coordinate(floor) + "v-" +
                                       coordinate(height) + "h" + coordinate(wide) + "v" +
                                       coordinate(height) + "z";
  }
  if (!inside.empty()) content += lone_element("path", {{"d", inside}, {"class", "bars"}});
  if (!outside.empty()) content += lone_element("path", {{"d", outside}, {"class", "bars clipped"}});
  content += svg_line(0, floor, kSmallWidth, floor, "axis");
  content += svg_text(2, kSmallHeight - 3, "tick", tick_text(values.low, (values.high - values.low) / 50));
  content += svg_text(kSmallWidth - 2, kSmallHeight - 3, "tick end",
                      tick_text(values.high, (values.high - values.low) / 50));
  return svg(kSmallWidth, kSmallHeight, chart.says, content);
}

Markup draw_waveform(const std::vector<double>& lowest, const std::vector<double>& highest,
                     const std::string& says) {
  const std::size_t count = std::min(lowest.size(), highest.size());
  if (count == 0) return {};
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    largest = std::max({largest, std::fabs(lowest[i]), std::fabs(highest[i])});
  const Scale x{0, static_cast<double>(count), 0, kSmallWidth},
      y{-largest - 1e-12, largest + 1e-12, kSmallHeight - 1, 1};
  std::string path;
  for (std::size_t i = 0; i < count; ++i) {
    path += "M" + coordinate(x(static_cast<double>(i) + 0.5)) + "," + coordinate(y(lowest[i]) + 0.3) + "V" +
            coordinate(y(highest[i]) - 0.3);
  }
  return svg(kSmallWidth, kSmallHeight, says, lone_element("path", {{"d", path}, {"class", "wave"}}));
}

Markup draw_bar(double share, Literal kind) {
  const double width = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * 100;
  return element(
      "svg",
      {{"viewBox", "0 0 100 10"}, {"preserveAspectRatio", "none"}, {"class", "bar"}, {"aria-hidden", "true"}},
      lone_element("rect", {{"width", coordinate(width)}, {"height", "10"}, {"class", kind.text()}}));
}

}  // namespace ounce::report::html
