#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/html/charts.h"
#include "report/html/document.h"
#include "report/html/section.h"
#include "report/table.h"

namespace ounce::report::html {
namespace tune_section {

constexpr auto kNumber = DataTable::Kind::kNumber;

// What the axes span at least: percent of the bytes, times the original's speed, a share, dB.
constexpr double kLeastSizes = 20, kLeastSpeeds = 0.5, kLeastMetrics = 0.02, kLeastDecibels = 10;

std::string speed_text(const Json& trial) {
  const Json& speed = member(trial, "speed_up");
  return figure(speed, "ratio") ? fmt::format("{:.2f} ×", *figure(speed, "ratio")) : "–";
}

bool has_failed(const Json& trial) {
  return !is_true(trial, "passed") || (member(trial, "held_out").is_boolean() && !is_true(trial, "held_out"));
}

// Why it is not the answer; empty if it could be.
std::string reason_of(const Json& trial) {
  if (const std::string reason = words(trial, "reason"); !reason.empty()) return reason;
  if (is_true(trial, "too_few_samples")) return "too few samples to be sure";
  if (!is_true(trial, "passed")) return "the gate";
  if (has_failed(trial)) return "on held-out data";
  return is_true(trial, "slower") ? "slower than the original" : "";
}

bool may_be_answer(const Json& trial) { return reason_of(trial).empty(); }

std::string gate_text(const Json& trial) {
  if (may_be_answer(trial)) return "passed";
  return (has_failed(trial) ? "failed: " : "passed, but ") + reason_of(trial);
}

// The metric where there is one, else the SQNR.
std::optional<double> quality_of(const Json& trial, bool has_metric) {
  return has_metric ? figure(member(trial, "metric"), "candidate") : figure(trial, "sqnr_db");
}

std::string sentence_of(const Json& trial) {
  const Json& metric = member(trial, "metric");
  return fmt::format(
      "{}: {} of the bytes, {}, {}{}: {}", words(trial, "name"), percent_of(trial, "ratio"),
      speed_text(trial), decibels_of(trial, "sqnr_db", ""),
      metric.is_object() ? fmt::format(", {} {}", words(metric, "name"), figure_of(metric, "candidate")) : "",
      gate_text(trial));
}

// The trials as points: `height` gives the second figure.
template <class Height>
ScatterChart chart_of(const Json& model, const Axis& y, const Height& height) {
  const std::string best = words(member(model, "best"), "name");
  ScatterChart chart;
  chart.x = {"size", "% of the original's bytes", kLeastSizes};
  chart.y = y;
  bool has_chosen = false;
  for (const Json& trial : list(model, "trials")) {
    const auto size = figure(trial, "ratio"), value = height(trial);
    if (!size || !value) continue;
    const bool is_chosen = !has_chosen && is_true(model, "passed") && words(trial, "name") == best;
    has_chosen |= is_chosen;
    const PointKind kind = is_chosen              ? PointKind::kChosen
                           : may_be_answer(trial) ? PointKind::kPassed
                                                  : PointKind::kFailed;
    chart.points.push_back({100 * *size, *value, kind, sentence_of(trial)});
    if (is_true(trial, "on_front")) chart.front.push_back({100 * *size, *value, {}});
  }
  std::sort(chart.front.begin(), chart.front.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  chart.says = fmt::format("{} models by size and {}{}", chart.points.size(), y.title,
                           has_chosen ? "; chosen: " + best : "");
  return chart;
}

Markup speed_chart(const Json& model) {
  ScatterChart chart = chart_of(model, {"speed", "× the original's", kLeastSpeeds},
                                [](const Json& trial) { return figure(member(trial, "speed_up"), "ratio"); });
  if (chart.points.empty()) return {};
  chart.points.push_back({100, 1, PointKind::kOriginal, "the original"});
  return heading("Size and speed of each candidate: up and left is better") + draw(chart);
}

Markup quality_chart(const Json& model) {
  const Json& trials = list(model, "trials");
  const bool has_metric = std::any_of(trials.begin(), trials.end(),
                                      [](const Json& trial) { return member(trial, "metric").is_object(); });
  const Axis axis = has_metric
                        ? Axis{words(member(member(model, "best"), "metric"), "name"), "", kLeastMetrics}
                        : Axis{"SQNR of the worst output", "dB", kLeastDecibels};
  const ScatterChart chart =
      chart_of(model, axis, [&](const Json& trial) { return quality_of(trial, has_metric); });
  if (chart.points.size() < 2) return {};
  return heading("Size and quality of each candidate") + draw(chart);
}

Markup front(const Json& model) {
  const Markup charts = speed_chart(model) + quality_chart(model);
  if (charts.is_empty()) return {};
  return charts +
         element("p", {{"class", "quiet"}},
                 Markup("The line joins the Pareto front: no other candidate is better in size, speed "
                        "and quality at once. Point at a mark for its figures; they are also in the "
                        "table below."));
}

std::string place_text(const Json& trial, bool is_chosen) {
  std::string place = is_chosen ? "chosen" : is_true(trial, "on_front") ? "on the front" : "";
  for (const std::string& corner : sentences(trial, "corners")) place += (place.empty() ? "" : ", ") + corner;
  return place;
}

Markup trial_table(const Json& model) {
  DataTable table("Every step of the search, in its order", {{"step", kNumber},
                                                             {"tried"},
                                                             {"size", kNumber},
                                                             {"speed", kNumber},
                                                             {"SQNR", kNumber},
                                                             {"same top-1", kNumber},
                                                             {"metric", kNumber},
                                                             {"gate"},
                                                             {"role"}});
  const std::string best = words(member(model, "best"), "name");
  double step = 0;
  for (const Json& trial : list(model, "trials")) {
    ++step;
    const Cell number = cell(fmt::format("{:.0f}", step), step);
    if (const std::string problem = words(trial, "problem"); !problem.empty()) {
      table.add({number, cell(words(trial, "name")), cell("–"), cell("–"), cell("–"), cell("–"), cell("–"),
                 cell("not made: " + problem), cell("")});
      continue;
    }
    const Json& metric = member(trial, "metric");
    const std::string gate = gate_text(trial);
    table.add(
        {number,
         cell(words(trial, "name")),
         cell(percent_of(trial, "ratio"), figure(trial, "ratio")),
         cell(speed_text(trial), figure(member(trial, "speed_up"), "ratio")),
         cell(decibels_of(trial, "sqnr_db", ""), figure(trial, "sqnr_db")),
         cell(figure(trial, "agreement") ? fmt::format("{:.2f} %", 100 * *figure(trial, "agreement")) : "–",
              figure(trial, "agreement")),
         cell(figure_of(metric, "candidate"), figure(metric, "candidate")),
         {badge(may_be_answer(trial) ? Verdict::kGood : Verdict::kBad, gate)},
         cell(place_text(trial, words(trial, "name") == best && is_true(model, "passed")))});
  }
  return table.markup();
}

Markup layer_table(const Json& model) {
  std::map<std::string, std::size_t> formats;
  DataTable table("How each layer of the result computes", {{"layer"}, {"op"}, {"format"}});
  for (const Json& layer : list(model, "layers")) {
    ++formats[words(layer, "format")];
    table.add({cell(words(layer, "name")), cell(words(layer, "op_type")), cell(words(layer, "format"))});
  }
  std::string counts;
  for (const auto& [format, count] : formats)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, format);
  return details(fmt::format("Layers of the result: {}", counts), table.markup());
}

Section section_of(const Json& model) {
  Section section;
  const Json &best = member(model, "best"), &held_out = member(model, "held_out");
  const std::string name = file_name(words(model, "model"));
  const bool has_passed = is_true(model, "passed");
  section.title = fmt::format("tune: {}", name);
  section.verdict = has_passed ? Verdict::kGood : Verdict::kBad;
  section.headline =
      has_passed
          ? fmt::format("{}: {}, {} of the bytes{}; {}", file_name(words(model, "output")),
                        words(best, "name"), percent_of(best, "ratio"),
                        figure(member(best, "speed_up"), "ratio") ? ", " + speed_text(best) + " as fast"
                                                                  : std::string(),
                        words(held_out, "verdict"))
      : best.is_object()
          ? fmt::format("nothing passed; closest came {}: {}", words(best, "name"), words(best, "verdict"))
          : "nothing could be made";
  const Json& metric = member(held_out, "metric");
  std::vector<Tile> all = {
      {"size", bytes_of(model, "bytes_before"), bytes_of(best, "bytes"),
       percent_of(best, "ratio") + " of the bytes"},
      {"speed", "", speed_text(best), "of the original's"},
      {"quality", figure_of(metric, "reference"),
       metric.is_object() ? figure_of(metric, "candidate") : decibels_of(held_out, "sqnr_db", ""),
       metric.is_object() ? words(metric, "name") + " on data that was held out"
                          : "SQNR on data that was held out"},
      {"samples", "",
       fmt::format("{} + {}", figure_of(model, "search_samples", 9), figure_of(model, "held_out_samples", 9)),
       "to search on, and held out"}};
  if (!metric.is_object()) all[2].before.clear();
  section.body = tiles(all);
  if (is_true(model, "out_of_time"))
    section.body += paragraph("The budget was used up before everything was tried: more may find more.");
  section.body += front(model) + heading("What each step did") + trial_table(model) + layer_table(model) +
                  cpu_table(list(model, "cpus")) + note_list(sentences(model, "notes"));
  section.summary = {{name, "tune: " + words(best, "name"), percent_of(best, "ratio"), speed_text(best),
                      metric.is_object() ? words(metric, "name") + " " + figure_of(metric, "candidate")
                                         : decibels_of(best, "sqnr_db", ""),
                      has_passed ? "passed" : "nothing passed", section.verdict}};
  return section;
}

}  // namespace tune_section

std::vector<Section> tune_sections(const Json& document) {
  return section_each("tune", document, tune_section::section_of);
}

}  // namespace ounce::report::html
