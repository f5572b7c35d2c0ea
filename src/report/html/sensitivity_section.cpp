#include <fmt/format.h>

#include <algorithm>

#include "report/html/charts.h"
#include "report/html/document.h"
#include "report/html/section.h"
#include "report/table.h"

namespace ounce::report::html {
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
