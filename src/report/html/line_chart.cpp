#include <fmt/format.h>

#include "report/html/plot.h"

namespace ounce::report::html {
namespace {

constexpr std::size_t kKinds = 6;  // colours and dashes that the style sheet has

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

}  // namespace ounce::report::html
