#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "report/html/charts.h"
#include "report/html/document.h"
#include "report/html/section.h"
#include "report/table.h"

namespace ounce::report::html {
namespace verify_section {

constexpr auto kNumber = DataTable::Kind::kNumber;
constexpr std::size_t kMatrixClasses = 12, kMostPng = 400'000, kMostCards = 24;

std::string share_text(const Json& output, const char* key) {
  const auto share = figure(output, key);
  return share ? fmt::format("{:.2f} %", 100 * *share) : "–";
}

bool is_judged(const Json& output) { return is_true(output, "judged"); }

// Is every output that is judged equal to the last bit?
bool is_identical(const Json& candidate) {
  const Json& outputs = list(candidate, "outputs");
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const Json& output) { return !is_judged(output) || is_true(output, "exact"); });
}

// The worst of the outputs that are judged, and have an SQNR.
const Json* worst_output(const Json& candidate) {
  const Json* worst = nullptr;
  for (const Json& output : list(candidate, "outputs")) {
    if (!is_judged(output) || !figure(output, "sqnr_db")) continue;
    if (worst == nullptr || *figure(output, "sqnr_db") < *figure(*worst, "sqnr_db")) worst = &output;
  }
  return worst;
}

std::vector<Tile> tiles_of(const Json& candidate) {
  std::vector<Tile> all;
  const Json& metrics = list(candidate, "metrics");
  if (!metrics.empty())
    all.push_back({words(metrics[0], "name"), figure_of(metrics[0], "reference"),
                   figure_of(metrics[0], "candidate"),
                   fmt::format("drop {} (95 %: {} … {})", figure_of(metrics[0], "drop", 3),
                               figure_of(metrics[0], "drop_low", 3), figure_of(metrics[0], "drop_high", 3))});
  const Json* worst = worst_output(candidate);
  if (worst != nullptr) {
    all.push_back({"output against the original", "", decibels_of(*worst, "sqnr_db", "exact"),
                   "SQNR of " + words(*worst, "name")});
  } else if (is_identical(candidate)) {
    all.push_back({"output against the original", "", "exact", "every value is equal"});
  }
  for (const Json& output : list(candidate, "outputs")) {
    if (!is_judged(output) || !figure(output, "top1_agreement")) continue;
    all.push_back({is_true(output, "labels") ? "same labels" : "same best class", "",
                   share_text(output, "top1_agreement"), "of " + words(output, "name")});
    break;
  }
  if (figure(candidate, "max_abs_diff"))
    all.push_back({"largest difference", "", figure_of(candidate, "max_abs_diff"), "of any value"});
  all.push_back({"judged on", "", figure_of(candidate, "samples", 9),
                 is_true(candidate, "generated") ? "random inputs" : "samples"});
  return all;
}

Markup output_table(const Json& candidate) {
  DataTable table("Outputs", {{"output"},
                              {"values", kNumber},
                              {"SQNR", kNumber},
                              {"max |d|", kNumber},
                              {"mean |d|", kNumber},
                              {"cosine", kNumber},
                              {"same top-1", kNumber},
                              {"same top-5", kNumber},
                              {"new NaN/Inf", kNumber}});
  for (const Json& output : list(candidate, "outputs")) {
    const std::string kind = is_true(output, "state")    ? " (state)"
                             : !is_judged(output)        ? " (not judged)"
                             : is_true(output, "labels") ? " (labels)"
                                                         : "";
    table.add({cell(words(output, "name") + kind),
               cell(figure_of(output, "values", 12), figure(output, "values")),
               cell(decibels_of(output, "sqnr_db", "exact"), figure(output, "sqnr_db")),
               cell(figure_of(output, "max_abs_diff"), figure(output, "max_abs_diff")),
               cell(figure_of(output, "mean_abs_diff"), figure(output, "mean_abs_diff")),
               cell(figure_of(output, "cosine", 7), figure(output, "cosine")),
               cell(share_text(output, "top1_agreement"), figure(output, "top1_agreement")),
               cell(share_text(output, "top5_agreement"), figure(output, "top5_agreement")),
               cell(figure_of(output, "newly_not_finite", 9), figure(output, "newly_not_finite"))});
    for (const Json& slice : list(output, "slices"))
      table.add({cell("slice " + words(slice, "name")),
                 cell(figure_of(slice, "values", 12), figure(slice, "values")),
                 cell(decibels_of(slice, "sqnr_db", "exact"), figure(slice, "sqnr_db")), cell("–"), cell("–"),
                 cell("–"), cell("–"), cell("–"), cell("–")});
  }
  return table.markup();
}

Markup metric_table(const Json& candidate) {
  DataTable table("Quality", {{"metric"},
                              {"original", kNumber},
                              {"candidate", kNumber},
                              {"drop", kNumber},
                              {"95 % sure that it is in"}});
  for (const Json& metric : list(candidate, "metrics")) {
    table.add({cell(words(metric, "name")), cell(figure_of(metric, "reference"), figure(metric, "reference")),
               cell(figure_of(metric, "candidate"), figure(metric, "candidate")),
               cell(figure_of(metric, "drop", 3), figure(metric, "drop")),
               cell(figure(metric, "drop_low") ? fmt::format("{} … {}", figure_of(metric, "drop_low", 3),
                                                             figure_of(metric, "drop_high", 3))
                                               : "–")});
  }
  return table.markup();
}

Markup edge_table(const Json& candidate) {
  DataTable table("Inputs that the data does not hold", {{"case"}, {"result"}, {"finding"}});
  std::size_t failed = 0;
  for (const Json& edge : list(candidate, "edge_cases")) {
    const bool is_left_out = is_true(edge, "left_out"), has_passed = is_true(edge, "passed");
    failed += is_left_out || has_passed ? 0 : 1;
    table.add(
        {cell(words(edge, "name")),
         {is_left_out ? badge(Verdict::kNeutral, "left out")
                      : badge(has_passed ? Verdict::kGood : Verdict::kBad, has_passed ? "held" : "failed")},
         cell(words(edge, "finding"))});
  }
  const std::string title = fmt::format("Edge cases: {} tried, {} failed", table.rows(), failed);
  return failed != 0 ? heading("Edge cases") + table.markup() : details(title, table.markup());
}

Markup answers_of(const Json& worst) {
  DataTable table("Scores", {{"class"}, {"original", kNumber}, {"candidate", kNumber}});
  for (const Json& answer : list(worst, "answers"))
    table.add({cell(figure_of(answer, "class", 9)),
               cell(figure_of(answer, "reference"), figure(answer, "reference")),
               cell(figure_of(answer, "candidate"), figure(answer, "candidate"))});
  return table.markup();
}

// "the original says 3, the candidate 5"
std::string answer_sentence(const Json& worst) {
  const Json *ours = nullptr, *theirs = nullptr;
  for (const Json& answer : list(worst, "answers")) {
    const auto reference = figure(answer, "reference"), candidate = figure(answer, "candidate");
    if (reference && (ours == nullptr || *reference > *figure(*ours, "reference"))) ours = &answer;
    if (candidate && (theirs == nullptr || *candidate > *figure(*theirs, "candidate"))) theirs = &answer;
  }
  if (ours == nullptr || theirs == nullptr) return {};
  const std::string label =
      figure(worst, "label") ? fmt::format(" (labelled {})", figure_of(worst, "label", 9)) : "";
  if (ours == theirs) return fmt::format("both say class {}{}", figure_of(*ours, "class", 9), label);
  return fmt::format("the original says class {}, the candidate {}{}", figure_of(*ours, "class", 9),
                     figure_of(*theirs, "class", 9), label);
}

Markup picture_of_sample(const Json& worst) {
  const Json& picture = member(worst, "picture");
  const std::string says = "what was given to " + words(picture, "input");
  if (const std::string png = words(picture, "png"); !png.empty() && png.size() < kMostPng && is_base64(png))
    return lone_element("img",
                        {{"src", "data:image/png;base64," + png}, {"alt", plain(says)}, {"class", "sample"}});
  return draw_waveform(figures(picture, "lowest"), figures(picture, "highest"), says);
}

Markup worst_cards(const Json& candidate) {
  Markup cards;
  std::size_t shown = 0;
  for (const Json& worst : list(candidate, "worst")) {
    if (shown++ == kMostCards) break;
    const std::string sentence = answer_sentence(worst);
    Markup caption = element("b", text(words(worst, "sample"))) + Markup("<br>") +
                     text(figure(worst, "answers_changed").value_or(0) != 0
                              ? fmt::format("{}: {} labels changed", words(worst, "output"),
                                            figure_of(worst, "answers_changed", 9))
                              : fmt::format("{} differs by up to {}", words(worst, "output"),
                                            figure_of(worst, "max_abs_diff")));
    if (!sentence.empty()) caption += Markup("<br>") + text(sentence);
    cards += element("figure", {{"class", "card"}},
                     picture_of_sample(worst) + element("figcaption", caption) + answers_of(worst));
  }
  if (cards.is_empty()) return {};
  return heading("The samples that differ most") + element("div", {{"class", "cards"}}, cards);
}

// Of few classes a matrix, of many a list.
Markup changed_answers(const Json& output) {
  std::set<double> classes;
  std::map<std::pair<double, double>, double> counts;
  double most = 0;
  for (const Json& changed : list(output, "changed_answers")) {
    const auto from = figure(changed, "from"), to = figure(changed, "to"), count = figure(changed, "count");
    if (!from || !to || !count) continue;
    classes.insert({*from, *to});
    counts[{*from, *to}] = *count;
    most = std::max(most, *count);
  }
  if (counts.empty()) return {};
  const std::string title = fmt::format("Answers of {} that changed", words(output, "name"));
  if (classes.size() <= kMatrixClasses) {
    std::vector<DataTable::Column> columns = {{"original ↓ candidate →"}};
    for (const double to : classes) columns.push_back({fmt::format("{:.0f}", to), kNumber});
    DataTable table(title, columns);
    for (const double from : classes) {
      std::vector<Cell> cells = {cell(fmt::format("{:.0f}", from))};
      for (const double to : classes) {
        const auto found = counts.find({from, to});
        cells.push_back(found == counts.end()
                            ? cell(from == to ? "·" : "")
                            : Cell{element("b", text(fmt::format("{:.0f}", found->second))), found->second});
      }
      table.add(std::move(cells));
    }
    return heading("Which answers changed into which") + table.markup();
  }
  DataTable table(title, {{"original says"}, {"candidate says"}, {"times", kNumber}, {"share"}});
  for (const Json& changed : list(output, "changed_answers"))
    table.add({cell(figure_of(changed, "from", 9)),
               cell(figure_of(changed, "to", 9)),
               cell(figure_of(changed, "count", 9), figure(changed, "count")),
               {draw_bar(figure(changed, "count").value_or(0) / most, "fill")}});
  return heading("Which answers changed into which") + table.markup();
}

Section section_of(const Json& candidate) {
  Section section;
  const std::string name = file_name(words(candidate, "candidate"));
  const bool has_passed = is_true(candidate, "passed");
  section.title = fmt::format("verify: {} against {}", name, file_name(words(candidate, "reference")));
  section.verdict = has_passed ? Verdict::kGood : Verdict::kBad;
  section.headline = words(candidate, "verdict");
  section.body = tiles(tiles_of(candidate));
  if (const std::string certainty = words(candidate, "certainty"); !certainty.empty())
    section.body += paragraph((is_true(candidate, "certain") ? "Certain: " : "Not certain: ") + certainty);
  if (is_true(candidate, "generated"))
    section.body +=
        paragraph("The inputs were random: they show that the models agree, not how good they are.");
  section.body += note_list(sentences(candidate, "failures")) + metric_table(candidate) +
                  output_table(candidate) + worst_cards(candidate);
  for (const Json& output : list(candidate, "outputs")) section.body += changed_answers(output);
  section.body +=
      edge_table(candidate) + cpu_table(list(candidate, "cpus")) + note_list(sentences(candidate, "notes"));
  const Json* worst = worst_output(candidate);
  std::string quality = worst != nullptr          ? decibels_of(*worst, "sqnr_db", "exact")
                        : is_identical(candidate) ? "exact"
                                                  : "–";
  if (const Json& metrics = list(candidate, "metrics"); !metrics.empty())
    quality += fmt::format(", {} {}", words(metrics[0], "name"), figure_of(metrics[0], "candidate"));
  section.summary = {{name, "verify", "–", "–", quality, has_passed ? "passed" : "failed", section.verdict}};
  return section;
}

}  // namespace verify_section

std::vector<Section> verify_sections(const Json& document) {
  return section_each("verify", document, verify_section::section_of);
}

}  // namespace ounce::report::html
