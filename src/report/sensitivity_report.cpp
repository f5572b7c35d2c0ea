#include "report/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "recipe/format_info.h"
#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;

constexpr double kBar = 12;  // characters of the longest

std::string drop_text(const std::optional<double>& drop) {
  return drop ? safe_format("{:+.4f}", std::fabs(*drop) < 5e-5 ? 0.0 : *drop) : "-";
}

std::string marks_of(const GroupSensitivity& group) {
  std::string marks;
  const auto add = [&](bool is, const char* mark) {
    if (is) marks += (marks.empty() ? "" : ", ") + std::string(mark);
  };
  add(group.is_first, "first");
  add(group.is_last, "last");
  add(group.is_attention, "attention");
  return marks;
}

std::string bar_of(double share, double largest) {
  const double length = largest > 0 ? kBar * share / largest : 0;
  return std::string(static_cast<std::size_t>(std::lround(length)), '#');
}

std::string group_table(const SensitivityResult& result) {
  const bool has_metric = !result.metric.empty();
  std::vector<Table::Column> columns = {{"", Align::kRight},
                                        {"layer"},
                                        {"op"},
                                        {"weights", Align::kRight},
                                        {"estimated", Align::kRight},
                                        {"alone", Align::kRight},
                                        {"without", Align::kRight}};
  if (has_metric) {
    columns.push_back({"drop", Align::kRight});
    columns.push_back({"drop without", Align::kRight});
  }
  columns.insert(columns.end(), {{"noise", Align::kRight}, {""}, {""}});
  Table table(columns);
  std::size_t rank = 0;
  for (const GroupSensitivity& group : result.groups) {
    if (!group.is_measured) break;
    const bool is_one = group.layers.size() == 1;
    std::vector<std::string> cells = {fmt::format("{}", ++rank),
                                      group.name,
                                      is_one ? group.op_type : fmt::format("{} layers", group.layers.size()),
                                      bytes_text(group.weight_bytes),
                                      decibel_text(group.estimated_db),
                                      decibel_text(group.alone_db),
                                      decibel_text(group.without_db)};
    if (has_metric) cells.insert(cells.end(), {drop_text(group.alone_drop), drop_text(group.without_drop)});
    cells.insert(cells.end(), {fmt::format("{:.1f} %", 100 * group.share),
                               bar_of(group.share, result.groups.front().share), marks_of(group)});
    table.add(std::move(cells));
  }
  return table.text();
}

// What was not measured, in one line.
std::string rest_line(const SensitivityResult& result) {
  std::size_t count = 0;
  double worst = INFINITY;
  for (const GroupSensitivity& group : result.groups) {
    if (group.is_measured) continue;
    ++count;
    worst = std::min(worst, group.estimated_db);
  }
  if (count == 0) return {};
  return safe_format("{} more not measured, estimated at {} or better: {}\n", count, decibel_text(worst),
                     with_options("leave out `measure` to measure all"));
}

// For a shell.
std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made + "'";
}

std::string exclude_lines(const SensitivityResult& result, double min_sqnr) {
  if (result.exclude.empty() && result.is_enough)
    return safe_format("{} reaches {:g} dB with nothing left out\n", name_of(result.format), min_sqnr);
  if (result.exclude.empty())
    return safe_format("leaving layers out does not bring it nearer to {:g} dB\n", min_sqnr);
  std::string text = result.is_enough ? safe_format("to reach {:g} dB ({} measured) leave out:\n", min_sqnr,
                                                    decibel_text(result.exclude_db))
                                      : safe_format("{:g} dB are out of reach; {} measured without:\n",
                                                    min_sqnr, decibel_text(result.exclude_db));
  text += safe_format("  --to {}{}", name_of(result.format),
                      is_static(result.format) ? " --no-search --no-equalize" : "");
  for (const auto& [node, format] : result.nodes)
    text += " --node " + quoted(fmt::format("{}={}", escaped(node), name_of(format)));
  if (!result.nodes.empty()) return text + '\n';
  for (const std::string& expression : result.exclude) text += " --exclude " + quoted(escaped(expression));
  return text + '\n';
}

}  // namespace

std::string sensitivity_text(const SensitivityResult& result, double min_sqnr) {
  std::string text =
      safe_format("{} to {}: {} sample{}, ONNX Runtime {}, everything quantized {}", result.model.string(),
                  name_of(result.format), result.samples, result.samples == 1 ? "" : "s",
                  result.runtime_version, decibel_text(result.all_db));
  if (!result.metric.empty())
    text += safe_format(", {} {:.4f} (drop {})", result.metric, result.metric_reference,
                        drop_text(result.all_drop));
  text += '\n' + group_table(result) + rest_line(result);
  for (const std::string& finding : result.findings) text += plain(with_options(finding)) + '\n';
  for (const std::string& note : result.notes) text += safe_format("note: {}\n", with_options(note));
  text += exclude_lines(result, min_sqnr);
  return text + safe_format("{} model{} measured, {} known from before, {}\n", result.measured,
                            result.measured == 1 ? "" : "s", result.recalled, seconds_text(result.seconds));
}

}  // namespace ounce::report
