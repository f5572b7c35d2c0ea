// Charts without axes: histograms and waveforms that stand in rows, bars in tables.
#include <algorithm>
#include <cmath>

#include "report/html/plot.h"

namespace ounce::report::html {
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
  // By the root: the tails are what ranges are about, and a straight scale hides them.
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
