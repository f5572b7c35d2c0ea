// Sections of tune, advise and sensitivity.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/html/charts.h"
#include "report/html/section.h"
#include "report/table.h"

namespace ounce::report::html {
namespace tune_section {

// Smallest spans of the axes: percent of the size, multiples of the speed, a share, dB.
constexpr double kLeastSizes = 20, kLeastSpeeds = 0.5, kLeastMetrics = 0.02, kLeastDecibels = 10;

std::string speed_text(const Json& trial) {
  const auto speed = figure(trial, "speed_up.ratio");
  return speed ? fmt::format("{:.2f}×", *speed) : "–";
}

bool has_failed(const Json& trial) {
  return !is_true(trial, "passed") || (member(trial, "held_out").is_boolean() && !is_true(trial, "held_out"));
}

// Why the trial cannot be the result; empty if it can.
std::string reason_of(const Json& trial) {
  if (const std::string reason = words(trial, "reason"); !reason.empty()) return reason;
  if (is_true(trial, "too_few_samples")) return "too few samples";
  if (!is_true(trial, "passed")) return "exceeds a threshold";
  if (has_failed(trial)) return "on held-out data";
  return is_true(trial, "slower") ? "slower than the original" : "";
}

bool may_be_answer(const Json& trial) { return reason_of(trial).empty(); }

std::string gate_text(const Json& trial) {
  if (may_be_answer(trial)) return "passed";
  return (has_failed(trial) ? "failed: " : "passed, but ") + reason_of(trial);
}

std::string metric_text(const Json& trial) {
  return words(trial, "metric.name") + " " + figure_of(trial, "metric.candidate");
}

bool has_metric(const Json& trial) { return member(trial, "metric").is_object(); }

std::string sentence_of(const Json& trial) {
  return fmt::format("{}: {} of the size, {}, {}{}: {}", words(trial, "name"), percent_of(trial, "ratio"),
                     speed_text(trial), decibels_of(trial, "sqnr_db", ""),
                     has_metric(trial) ? ", " + metric_text(trial) : "", gate_text(trial));
}

// Plots the trials by size and by the value at the key `height`.
ScatterChart chart_of(const Json& model, const Axis& y, std::string_view height) {
  const std::string best = words(model, "best.name");
  ScatterChart chart;
  chart.x = {"size", "% of the original size", kLeastSizes};
  chart.y = y;
  bool has_chosen = false;
  for (const Json& trial : list(model, "trials")) {
    const auto size = figure(trial, "ratio"), value = figure(trial, height);
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
  chart.says = fmt::format("{} candidates by size and {}{}", chart.points.size(), y.title,
                           has_chosen ? "; chosen: " + best : "");
  return chart;
}

Markup speed_chart(const Json& model) {
  ScatterChart chart = chart_of(model, {"speed", "× the original", kLeastSpeeds}, "speed_up.ratio");
  if (chart.points.empty()) return {};
  chart.points.push_back({100, 1, PointKind::kOriginal, "the original"});
  return heading("Size and speed of each candidate (better: up and left)") + draw(chart);
}

// Plots the metric if there is one, else the SQNR.
Markup quality_chart(const Json& model) {
  const Json& trials = list(model, "trials");
  const ScatterChart chart =
      std::any_of(trials.begin(), trials.end(), has_metric)
          ? chart_of(model, {words(model, "best.metric.name"), "", kLeastMetrics}, "metric.candidate")
          : chart_of(model, {"SQNR of the worst output", "dB", kLeastDecibels}, "sqnr_db");
  if (chart.points.size() < 2) return {};
  return heading("Size and quality of each candidate") + draw(chart);
}

Markup front(const Json& model) {
  const Markup charts = speed_chart(model) + quality_chart(model);
  if (charts.is_empty()) return {};
  return charts +
         quiet(
             "The line connects the Pareto front: no other candidate is better in size, speed and quality at "
             "once. Hover over a mark to see its values; the table below has them, too.");
}

std::string place_text(const Json& trial, bool is_chosen) {
  std::string place = is_chosen ? "chosen" : is_true(trial, "on_front") ? "Pareto front" : "";
  for (const std::string& corner : sentences(trial, "corners")) place += (place.empty() ? "" : ", ") + corner;
  return place;
}

bool is_made(const Json& trial) { return words(trial, "problem").empty(); }

Markup trial_table(const Json& model) {
  const std::string best = is_true(model, "passed") ? words(model, "best.name") : "";
  double step = 0;
  const auto gate = [](const Json& trial) -> Cell {
    if (!is_made(trial)) return cell("could not be made: " + words(trial, "problem"));
    return {badge(may_be_answer(trial) ? Verdict::kGood : Verdict::kBad, gate_text(trial))};
  };
  const auto role = [&](const Json& trial) {
    const bool is_chosen = !best.empty() && words(trial, "name") == best;
    return cell(is_made(trial) ? place_text(trial, is_chosen) : "");
  };
  const auto number = [&](const Json&) {
    ++step;
    return cell(fmt::format("{:.0f}", step), step);
  };
  const auto speed = [](const Json& trial) {
    return cell(speed_text(trial), figure(trial, "speed_up.ratio"));
  };
  return data_table("Candidates in the order of the search", list(model, "trials"),
                    {{"step", number, /*is_number=*/true},
                     text_column("candidate", "name"),
                     only_if(is_made, percent_column("size", "ratio")),
                     only_if(is_made, {"speed", speed, /*is_number=*/true}),
                     only_if(is_made, decibel_column("SQNR", "sqnr_db")),
                     only_if(is_made, share_column("same top-1", "agreement")),
                     only_if(is_made, figure_column("metric", "metric.candidate")),
                     {"thresholds", gate},
                     {"role", role}});
}

Markup layer_table(const Json& model) {
  std::map<std::string, std::size_t> formats;
  for (const Json& layer : list(model, "layers")) ++formats[words(layer, "format")];
  std::string counts;
  for (const auto& [format, count] : formats)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, format);
  return details(fmt::format("Layers of the result: {}", counts),
                 data_table("Format of each layer of the result", list(model, "layers"),
                            {text_column("layer", "name"), text_column("op", "op_type"),
                             text_column("format", "format")}));
}

Section section_of(const Json& model) {
  Section section;
  const Json &best = member(model, "best"), &held_out = member(model, "held_out");
  const std::string name = file_name(model, "model");
  const bool has_passed = is_true(model, "passed"), is_by_metric = has_metric(held_out);
  section.title = fmt::format("tune: {}", name);
  section.verdict = has_passed ? Verdict::kGood : Verdict::kBad;
  section.headline =
      has_passed         ? fmt::format("{}: {}, {} of the size{}; {}", file_name(model, "output"),
                                       words(best, "name"), percent_of(best, "ratio"),
                               figure(best, "speed_up.ratio") ? ", " + speed_text(best) + " speed" : "",
                                       words(held_out, "verdict"))
      : best.is_object() ? fmt::format("nothing passed; the closest candidate is {}: {}", words(best, "name"),
                                       words(best, "verdict"))
                         : "no candidate could be made";
  section.body =
      tiles({{"size", bytes_of(model, "bytes_before"), bytes_of(best, "bytes"),
              percent_of(best, "ratio") + " of the original"},
             {"speed", "", speed_text(best), "the original"},
             {"quality", is_by_metric ? figure_of(held_out, "metric.reference") : "",
              is_by_metric ? figure_of(held_out, "metric.candidate") : decibels_of(held_out, "sqnr_db", ""),
              (is_by_metric ? words(held_out, "metric.name") : "SQNR") + " on held-out samples"},
             {"samples", "",
              fmt::format("{} + {}", figure_of(model, "search_samples", 9),
                          figure_of(model, "held_out_samples", 9)),
              "for the search, and held out"}});
  if (is_true(model, "out_of_time"))
    section.body += paragraph("The budget ended before all candidates were tried.");
  section.body += front(model) + heading("Search steps") + trial_table(model) + layer_table(model) +
                  cpu_table(list(model, "cpus")) + note_list(sentences(model, "notes"));
  section.summary = {{name, "tune: " + words(best, "name"), percent_of(best, "ratio"), speed_text(best),
                      is_by_metric ? metric_text(held_out) : decibels_of(best, "sqnr_db", ""),
                      has_passed ? "passed" : "nothing passed", section.verdict}};
  return section;
}

}  // namespace tune_section

std::vector<Section> tune_sections(const Json& document) {
  return section_each("tune", document, tune_section::section_of);
}

namespace advise_section {

Verdict verdict_of(const Json& method) {
  if (is_true(method, "acceptable")) return Verdict::kGood;
  return is_true(method, "uncertain") ? Verdict::kNeutral : Verdict::kBad;
}

std::string quality_text(const Json& method) {
  return (is_true(method, "uncertain") ? "uncertain: " : "") + words(method, "quality");
}

bool is_measured(const Json& method) { return is_true(method, "measured"); }

std::string speed_text(const Json& method) {
  if (!is_measured(method)) return "–";
  if (!figure(method, "speed_up.ratio")) return "not measured";
  if (!is_true(method, "speed_up.reliable")) return "machine too busy";
  if (!is_true(method, "speed_up.measurable")) return "no measurable difference";
  return fmt::format("{:.2f}× ({}–{})", *figure(method, "speed_up.ratio"),
                     figure_of(method, "speed_up.low", 3), figure_of(method, "speed_up.high", 3));
}

Markup method_table(const Json& model) {
  const auto quality = [](const Json& method) -> Cell {
    if (!is_measured(method)) return cell("not measured: " + words(method, "why_not"));
    return {badge(verdict_of(method), quality_text(method))};
  };
  return data_table("Measured methods", list(model, "methods"),
                    {text_column("method", "method"),
                     only_if(is_measured, percent_column("size", "ratio")),
                     text_column("speed (95 % CI)", speed_text),
                     only_if(is_measured, decibel_column("SQNR", "sqnr_db")),
                     only_if(is_measured, figure_column("metric", "metric.candidate")),
                     only_if(is_measured, bytes_column("peak memory", "peak_memory_bytes")),
                     {"quality", quality}});
}

Markup picture(const Json& model) {
  ScatterChart chart;
  chart.x = {"size", "% of the original size", 20};
  chart.y = {"speed", "× the original", 0.5};
  for (const Json& method : list(model, "methods")) {
    const auto size = figure(method, "ratio"), speed = figure(method, "speed_up.ratio");
    if (!size || !speed || !is_true(method, "speed_up.reliable")) continue;
    chart.points.push_back({100 * *size, *speed,
                            is_true(method, "acceptable") ? PointKind::kPassed : PointKind::kFailed,
                            fmt::format("{}: {} of the size, {:.2f}× speed, {}", words(method, "method"),
                                        percent_of(method, "ratio"), *speed, quality_text(method))});
  }
  if (chart.points.size() < 2) return {};
  chart.points.push_back({100, 1, PointKind::kOriginal, "the original"});
  chart.says = fmt::format("{} methods by size and speed (better: up and left)", chart.points.size() - 1);
  return heading("Size and speed of each method (better: up and left)") + draw(chart);
}

Section section_of(const Json& model) {
  Section section;
  const std::string name = file_name(model, "model");
  section.title = fmt::format("advise: {}", name);
  section.headline = words(model, "headline");
  section.body = tiles({{"size", "", bytes_of(model, "bytes"), words(model, "family.description")},
                        {"latency (p50)", "", time_of(model, "baseline.latency.p50_ns"), "of the original"},
                        {"peak memory", "", bytes_of(model, "baseline.peak_memory_bytes"), "of the original"},
                        {"compared on", "", figure_of(model, "samples", 9),
                         is_true(model, "generated") ? "random inputs" : "samples"}}) +
                 note_list(sentences(model, "reasons"));
  Markup commands;
  for (const Json& command : list(model, "commands"))
    commands += paragraph(words(command, "why")) + command_block(words(command, "line"));
  if (!commands.is_empty()) section.body += heading("Recommended commands") + commands;
  section.body += picture(model) + heading("Methods") + method_table(model) +
                  data_table("Risks", list(model, "risks"),
                             {text_column("risk", "name"), text_column("evidence", "evidence"),
                              text_column("advice", "advice")}) +
                  note_list(sentences(model, "missing")) + note_list(sentences(model, "notes"));
  section.summary = {{name, "advise", "–", "–", "–", words(model, "verdict"), Verdict::kNeutral}};
  return section;
}

}  // namespace advise_section

std::vector<Section> advise_sections(const Json& document) {
  return section_each("advise", document, advise_section::section_of);
}

namespace sensitivity_section {

std::string marks_text(const Json& group) {
  std::string marks;
  for (const char* mark : {"first", "last", "attention"}) {
    if (is_true(group, mark)) marks += (marks.empty() ? "" : ", ") + std::string(mark);
  }
  return marks;
}

Markup bar_table(const Json& model) {
  double largest = 0;
  for (const Json& group : list(model, "groups"))
    largest = std::max(largest, figure(group, "noise_share").value_or(0));
  const auto share = [](const Json& group) {
    return cell(is_true(group, "measured") ? percent_of(group, "noise_share") : "not measured",
                figure(group, "noise_share"));
  };
  const auto bar = [&](const Json& group) {
    return Cell{draw_bar(largest > 0 ? figure(group, "noise_share").value_or(0) / largest : 0, "fill")};
  };
  return data_table("Layers, most sensitive first", list(model, "groups"),
                    {text_column("layer", "name"),
                     text_column("op", "op_type"),
                     bytes_column("weights", "weight_bytes"),
                     {"noise share", share, /*is_number=*/true},
                     {"noise", bar},
                     decibel_column("only it", "alone_db", "exact"),
                     decibel_column("all but it", "without_db"),
                     figure_column("drop", "alone_drop", 3),
                     decibel_column("estimated", "estimated_db"),
                     text_column("position", marks_text)});
}

Markup along_network(const Json& model) {
  std::vector<std::pair<double, const Json*>> order;
  for (const Json& group : list(model, "groups")) {
    if (figure(group, "alone_db") && figure(group, "place"))
      order.emplace_back(*figure(group, "place"), &group);
  }
  if (order.size() < 2) return {};
  std::sort(order.begin(), order.end());
  Series series{"quantized alone", {}};
  for (const auto& [place, group] : order) {
    const double sqnr = figure(*group, "alone_db").value_or(0);
    series.points.push_back(
        {place + 1, sqnr, fmt::format("{}: {}", words(*group, "name"), decibel_text(sqnr))});
  }
  const std::string says =
      "Output SQNR when only one layer is quantized, in the order of the network; a low value means a "
      "sensitive layer";
  return heading("Sensitivity along the network") + quiet(says + ".") +
         draw(LineChart{.says = says,
                        .x = {"layers, in the order of the network", ""},
                        .y = {"SQNR of the outputs", "dB"},
                        .series = {std::move(series)},
                        .marks = true});
}

Section section_of(const Json& model) {
  const double min_sqnr = figure(model, "min_sqnr_db").value_or(0);
  Section section;
  const std::string name = file_name(model, "model"), format = words(model, "format");
  section.title = fmt::format("sensitivity: {} to {}", name, format);
  const std::vector<std::string> exclude = sentences(model, "exclude");
  section.headline =
      exclude.empty() && is_true(model, "enough")
          ? fmt::format("{} reaches {:g} dB without excluding layers", format, min_sqnr)
      : exclude.empty()
          ? fmt::format("excluding layers does not bring the outputs closer to {:g} dB", min_sqnr)
          : fmt::format("{} with {} layer{} excluded{}", decibels_of(model, "exclude_db", ""), exclude.size(),
                        exclude.size() == 1 ? "" : "s",
                        is_true(model, "enough") ? "" : fmt::format("; {:g} dB cannot be reached", min_sqnr));
  DataTable left("Layers to exclude", {{"layer"}, {"format"}});
  if (const Json& nodes = member(model, "nodes"); nodes.is_object()) {
    for (const auto& [node, stored] : nodes.items())
      left.add({cell(node), cell(stored.is_string() ? stored.get<std::string>() : "")});
  }
  if (left.rows() == 0) {
    for (const std::string& one : exclude) left.add({cell(one), cell("fp32")});
  }
  section.body = tiles({{"all layers quantized", "", decibels_of(model, "all_db", ""), "output SQNR"},
                        {"with excluded layers", "", decibels_of(model, "exclude_db", ""),
                         fmt::format("target: {:g} dB", min_sqnr)},
                        {"measured on", "", figure_of(model, "samples", 9), "samples"}}) +
                 note_list(sentences(model, "findings")) + along_network(model) +
                 heading("Sensitive layers") + bar_table(model) + left.markup() +
                 note_list(sentences(model, "notes"));
  section.summary = {{name, "sensitivity, " + format, "–", "–", decibels_of(model, "all_db", ""),
                      section.headline, Verdict::kNeutral}};
  return section;
}

}  // namespace sensitivity_section

std::vector<Section> sensitivity_sections(const Json& document) {
  return section_each("sensitivity", document, sensitivity_section::section_of);
}

}  // namespace ounce::report::html
