#include "report/html/section.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html/document.h"

namespace ounce::report::html {
namespace {

constexpr std::size_t kMostSections = 500;  // of one document

bool has_failed(const Json& result) {
  return member(result, "passed").is_boolean() && !is_true(result, "passed");
}

// What stands for the entries that are not drawn: a page must not look good because its end is missing.
Section rest_section(const std::string& verb, const Json& results, const Json& errors) {
  std::size_t place = 0, failed = 0;
  for (const Json& result : results) failed += place++ >= kMostSections && has_failed(result) ? 1U : 0U;
  const std::size_t count = place + errors.size();
  failed += count - std::max(place, kMostSections);
  Section section;
  section.title = fmt::format("{}: the rest", verb);
  section.verdict = failed == 0 ? Verdict::kNeutral : Verdict::kBad;
  section.headline = fmt::format("{} more are not drawn, {} of them failed; the JSON document has them",
                                 count - kMostSections, failed);
  return section;
}

// A model that could not be done.
Section failed_section(const std::string& verb, const Json& error) {
  Section section;
  const std::string name = file_name(words(error, "model"));
  section.title = fmt::format("{}: {}", verb, name);
  section.verdict = Verdict::kBad;
  section.headline = words(error, "message");
  section.summary = {{name, verb, "–", "–", "–", "could not be done", Verdict::kBad}};
  return section;
}

}  // namespace

std::vector<Section> section_each(const std::string& verb, const Json& document,
                                  const std::function<Section(const Json&)>& draw) {
  const Json &results = list(document, "results"), &errors = list(document, "errors");
  std::vector<Section> all;
  for (const Json& result : results) {
    if (all.size() == kMostSections) break;
    all.push_back(draw(result));
  }
  for (const Json& error : errors) {
    if (all.size() == kMostSections) break;
    all.push_back(failed_section(verb, error));
  }
  if (results.size() + errors.size() > kMostSections) all.push_back(rest_section(verb, results, errors));
  return all;
}

Markup tiles(const std::vector<Tile>& all) {
  Markup made;
  for (const Tile& tile : all) {
    Markup figures;
    if (!tile.before.empty())
      figures += element("span", {{"class", "before"}}, text(tile.before)) +
                 Markup(" <span aria-hidden=\"true\">→</span> ");
    figures += element("strong", text(tile.after));
    made += element(
        "div", {{"class", "tile"}},
        element("dt", text(tile.name)) +
            element("dd", figures + (tile.remark.empty() ? Markup() : element("small", text(tile.remark)))));
  }
  return element("dl", {{"class", "tiles"}}, made);
}

Markup badge(Verdict verdict, const std::string& words) {
  const char* const kind = verdict == Verdict::kGood  ? "badge good"
                           : verdict == Verdict::kBad ? "badge bad"
                                                      : "badge";
  const Markup sign = verdict == Verdict::kGood  ? Markup("<span aria-hidden=\"true\">✓</span> ")
                      : verdict == Verdict::kBad ? Markup("<span aria-hidden=\"true\">✗</span> ")
                                                 : Markup();
  return element("span", {{"class", kind}}, sign + text(words));
}

Markup heading(Literal words) { return element("h3", Markup(words)); }
Markup paragraph(const std::string& words) { return words.empty() ? Markup() : element("p", text(words)); }

Markup note_list(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  Markup made;
  for (const std::string& note : notes) made += element("li", text(note));
  return element("ul", {{"class", "notes"}}, made);
}

Markup command_block(const std::string& command) {
  if (command.empty()) return {};
  return element("pre", {{"class", "command"}, {"tabindex", "0"}}, element("code", whole_text(command)));
}

Markup details(const std::string& title, const Markup& content) {
  if (content.is_empty()) return {};
  return element("details", element("summary", text(title)) + content);
}

Markup cpu_table(const Json& cpus) {
  DataTable table("On other CPUs", {{"CPU"}, {"result"}, {"how"}, {"samples", DataTable::Kind::kNumber}});
  for (const Json& cpu : cpus) {
    const bool is_run = is_true(cpu, "run"), is_same = is_true(cpu, "same");
    const std::string how_close =
        is_true(cpu, "exact") ? "equal to the bit" : decibels_of(cpu, "sqnr_db", "exact") + " from here";
    table.add({cell(words(cpu, "cpu")),
               {is_run ? badge(is_same ? Verdict::kGood : Verdict::kBad, how_close)
                       : text("not run: " + words(cpu, "why_not"))},
               cell(words(cpu, "how")),
               cell(figure_of(cpu, "samples", 6), figure(cpu, "samples"))});
  }
  return table.markup();
}

}  // namespace ounce::report::html
