#include <fmt/format.h>

#include "report/html/plot.h"

namespace ounce::report::html {
namespace {

// A shape for each kind, and its colour in the style sheet.
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
  add(PointKind::kPassed, "passed the gate");
  add(PointKind::kFailed, "did not pass");
  add(PointKind::kOriginal, "the original");
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
  // The chosen one last, so that nothing hides it.
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

}  // namespace ounce::report::html
