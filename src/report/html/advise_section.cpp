#include <fmt/format.h>

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

}  // namespace ounce::report::html
