#include <fmt/format.h>

#include <algorithm>

#include "report/html/charts.h"
#include "report/html/document.h"
#include "report/html/section.h"
#include "report/table.h"

namespace ounce::report::html {

namespace advise_section {

constexpr auto kNumber = DataTable::Kind::kNumber;

bool is_unreliable(const Json& speed) { return !is_true(speed, "reliable"); }

Verdict verdict_of(const Json& method) {
  if (is_true(method, "acceptable")) return Verdict::kGood;
  return is_true(method, "uncertain") ? Verdict::kNeutral : Verdict::kBad;
}

std::string quality_text(const Json& method) {
  return (is_true(method, "uncertain") ? "not certain: " : "") + words(method, "quality");
}

std::string speed_text(const Json& method) {
  const Json& speed = member(method, "speed_up");
  if (!figure(speed, "ratio")) return "not timed";
  if (is_unreliable(speed)) return "machine too busy";
  return is_true(speed, "measurable") ? fmt::format("{:.2f} × ({} … {})", *figure(speed, "ratio"),
                                                    figure_of(speed, "low", 3), figure_of(speed, "high", 3))
                                      : "no measurable difference";
}

Markup method_table(const Json& model) {
  DataTable table("What every method brings, measured", {{"method"},
                                                         {"size", kNumber},
                                                         {"speed (95 % sure)"},
                                                         {"SQNR", kNumber},
                                                         {"metric", kNumber},
                                                         {"peak memory", kNumber},
                                                         {"quality"}});
  for (const Json& method : list(model, "methods")) {
    if (!is_true(method, "measured")) {
      table.add({cell(words(method, "method")), cell("–"), cell("–"), cell("–"), cell("–"), cell("–"),
                 cell("not measured: " + words(method, "why_not"))});
      continue;
    }
    const Json& metric = member(method, "metric");
    table.add({cell(words(method, "method")),
               cell(percent_of(method, "ratio"), figure(method, "ratio")),
               cell(speed_text(method)),
               cell(decibels_of(method, "sqnr_db", ""), figure(method, "sqnr_db")),
               cell(figure_of(metric, "candidate"), figure(metric, "candidate")),
               cell(bytes_of(method, "peak_memory_bytes"), figure(method, "peak_memory_bytes")),
               {badge(verdict_of(method), quality_text(method))}});
  }
  return table.markup();
}

Markup picture(const Json& model) {
  ScatterChart chart;
  chart.x = {"size", "% of the original's bytes", 20};
  chart.y = {"speed", "× the original's", 0.5};
  for (const Json& method : list(model, "methods")) {
    const Json& speed_up = member(method, "speed_up");
    const auto size = figure(method, "ratio"), speed = figure(speed_up, "ratio");
    if (!size || !speed || is_unreliable(speed_up)) continue;
    chart.points.push_back({100 * *size, *speed,
                            is_true(method, "acceptable") ? PointKind::kPassed : PointKind::kFailed,
                            fmt::format("{}: {} of the bytes, {:.2f} × as fast, {}", words(method, "method"),
                                        percent_of(method, "ratio"), *speed, quality_text(method))});
  }
  if (chart.points.size() < 2) return {};
  chart.points.push_back({100, 1, PointKind::kOriginal, "the original"});
  chart.says = fmt::format("{} methods by size and speed: up and left is better", chart.points.size() - 1);
  return heading("Size against speed: up and left is better") + draw(chart);
}

Section section_of(const Json& model) {
  Section section;
  const std::string name = file_name(words(model, "model"));
  section.title = fmt::format("advise: {}", name);
  section.headline = words(model, "headline");
  const Json& baseline = member(model, "baseline");
  section.body =
      tiles({{"size", "", bytes_of(model, "bytes"), words(member(model, "family"), "description")},
             {"time of a call (p50)", "", time_of(member(baseline, "latency"), "p50_ns"), "of the original"},
             {"peak memory", "", bytes_of(baseline, "peak_memory_bytes"), "of the original"},
             {"judged on", "", figure_of(model, "samples", 9),
              is_true(model, "generated") ? "random inputs" : "samples"}}) +
      note_list(sentences(model, "reasons"));
  Markup commands;
  for (const Json& command : list(model, "commands"))
    commands += paragraph(words(command, "why")) + command_block(words(command, "line"));
  if (!commands.is_empty()) section.body += heading("What to do") + commands;
  section.body += picture(model) + heading("What every method brings") + method_table(model);
  DataTable risks("Risks", {{"risk"}, {"evidence"}, {"advice"}});
  for (const Json& risk : list(model, "risks"))
    risks.add({cell(words(risk, "name")), cell(words(risk, "evidence")), cell(words(risk, "advice"))});
  section.body +=
      risks.markup() + note_list(sentences(model, "missing")) + note_list(sentences(model, "notes"));
  section.summary = {{name, "advise", "–", "–", "–", words(model, "verdict"), Verdict::kNeutral}};
  return section;
}

}  // namespace advise_section

std::vector<Section> advise_sections(const Json& document) {
  return section_each("advise", document, advise_section::section_of);
}

namespace sensitivity_section {

constexpr auto kNumber = DataTable::Kind::kNumber;

std::string marks_text(const Json& group) {
  std::string marks;
  for (const char* mark : {"first", "last", "attention"}) {
    if (is_true(group, mark)) marks += (marks.empty() ? "" : ", ") + std::string(mark);
  }
  return marks;
}

Markup bar_table(const Json& model) {
  DataTable table("Layers, the worst first", {{"layer"},
                                              {"op"},
                                              {"weights", kNumber},
                                              {"share of the noise", kNumber},
                                              {"noise"},
                                              {"alone", kNumber},
                                              {"without", kNumber},
                                              {"drop", kNumber},
                                              {"estimated", kNumber},
                                              {"where"}});
  double largest = 0;
  for (const Json& group : list(model, "groups"))
    largest = std::max(largest, figure(group, "noise_share").value_or(0));
  for (const Json& group : list(model, "groups")) {
    const auto share = figure(group, "noise_share");
    table.add({cell(words(group, "name")),
               cell(words(group, "op_type")),
               cell(bytes_of(group, "weight_bytes"), figure(group, "weight_bytes")),
               cell(is_true(group, "measured") ? percent_of(group, "noise_share") : "not measured", share),
               {draw_bar(largest > 0 ? share.value_or(0) / largest : 0, "fill")},
               cell(decibels_of(group, "alone_db", "exact"), figure(group, "alone_db")),
               cell(decibels_of(group, "without_db", ""), figure(group, "without_db")),
               cell(figure_of(group, "alone_drop", 3), figure(group, "alone_drop")),
               cell(decibels_of(group, "estimated_db", ""), figure(group, "estimated_db")),
               cell(marks_text(group))});
  }
  return table.markup();
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
      "SQNR of the model's outputs when one layer alone is quantized, in the order of the network; low is "
      "sensitive";
  return heading("Along the network") + element("p", {{"class", "quiet"}}, text(says + ".")) +
         draw(LineChart{says,
                        {"layers, in the order of the network", ""},
                        {"SQNR of the outputs", "dB"},
                        {std::move(series)},
                        true,
                        true,
                        false});
}

Section section_of(const Json& model) {
  const double min_sqnr = figure(model, "min_sqnr_db").value_or(0);
  Section section;
  const std::string name = file_name(words(model, "model"));
  section.title = fmt::format("sensitivity: {} to {}", name, words(model, "format"));
  const std::vector<std::string> exclude = sentences(model, "exclude");
  section.headline =
      exclude.empty() && is_true(model, "enough")
          ? fmt::format("{} reaches {:g} dB with nothing left out", words(model, "format"), min_sqnr)
      : exclude.empty()
          ? fmt::format("leaving layers out does not bring it nearer to {:g} dB", min_sqnr)
          : fmt::format("{} with {} layer{} left out{}", decibels_of(model, "exclude_db", ""), exclude.size(),
                        exclude.size() == 1 ? "" : "s",
                        is_true(model, "enough") ? "" : fmt::format("; {:g} dB are out of reach", min_sqnr));
  section.body = tiles({{"everything quantized", "", decibels_of(model, "all_db", ""), "SQNR of the outputs"},
                        {"with the advice below", "", decibels_of(model, "exclude_db", ""),
                         fmt::format("asked for: {:g} dB", min_sqnr)},
                        {"measured on", "", figure_of(model, "samples", 9), "samples"}}) +
                 note_list(sentences(model, "findings")) + along_network(model) +
                 heading("Which layers hurt") + bar_table(model);
  DataTable left("What to leave out", {{"layer"}, {"store it as"}});
  if (const Json& nodes = member(model, "nodes"); nodes.is_object()) {
    for (const auto& [node, format] : nodes.items())
      left.add({cell(node), cell(format.is_string() ? format.get<std::string>() : "")});
  }
  for (const std::string& one : left.is_empty() ? exclude : std::vector<std::string>())
    left.add({cell(one), cell("fp32")});
  section.body += left.markup() + note_list(sentences(model, "notes"));
  section.summary = {{name, "sensitivity, " + words(model, "format"), "–", "–",
                      decibels_of(model, "all_db", ""), section.headline, Verdict::kNeutral}};
  return section;
}

}  // namespace sensitivity_section

std::vector<Section> sensitivity_sections(const Json& document) {
  return section_each("sensitivity", document, sensitivity_section::section_of);
}

}  // namespace ounce::report::html
