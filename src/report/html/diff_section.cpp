#include <fmt/format.h>

#include "report/html/document.h"
#include "report/html/section.h"

namespace ounce::report::html {
namespace diff_section {

constexpr auto kNumber = DataTable::Kind::kNumber;

std::string or_dash(const std::string& text) { return text.empty() ? "–" : text; }

std::string scoped_name(const Json& entry) {
  const std::string scope = words(entry, "scope"), after = words(entry, "name_after");
  return (scope.empty() ? "" : scope + "/") + words(entry, "name") + (after.empty() ? "" : " → " + after);
}

Markup change_table(const Json& document) {
  DataTable table("The model as a whole, side by side", {{"what"}, {"before"}, {"after"}});
  for (const Json& change : list(document, "changes"))
    table.add({cell(words(change, "what") + " " + words(change, "name")),
               cell(or_dash(words(change, "before"))), cell(or_dash(words(change, "after")))});
  return table.markup();
}

Markup op_table(const Json& document) {
  DataTable table("Ops, side by side",
                  {{"op"}, {"before", kNumber}, {"after", kNumber}, {"change", kNumber}});
  for (const Json& op : list(document, "ops")) {
    const double by = figure(op, "after").value_or(0) - figure(op, "before").value_or(0);
    table.add({cell(words(op, "op_type")), cell(figure_of(op, "before", 9), figure(op, "before")),
               cell(figure_of(op, "after", 9), figure(op, "after")),
               cell(by == 0 ? "" : fmt::format("{:+.0f}", by), by)});
  }
  return table.markup();
}

Markup node_table(const Json& document) {
  DataTable table("Nodes that changed, are new, or are gone", {{"node"}, {"op"}, {"change"}, {"what"}});
  const auto add = [&](const char* key, const char* change) {
    for (const Json& node : list(document, key)) {
      std::string what;
      for (const std::string& one : sentences(node, "changes")) what += (what.empty() ? "" : "; ") + one;
      table.add({cell(scoped_name(node)), cell(words(node, "op_type")), cell(change), cell(what)});
    }
  };
  add("nodes_changed", "changed");
  add("nodes_added", "new");
  add("nodes_removed", "gone");
  return details(fmt::format("Nodes that changed, are new, or are gone ({})", table.rows()), table.markup());
}

Markup tensor_table(const Json& document) {
  DataTable table(
      "Weights that differ, are new, or are gone",
      {{"weight"}, {"before"}, {"after"}, {"SQNR", kNumber}, {"largest change", kNumber}, {"remark"}});
  for (const Json& tensor : list(document, "tensors"))
    table.add({cell(scoped_name(tensor)), cell(or_dash(words(tensor, "before"))),
               cell(or_dash(words(tensor, "after"))),
               cell(decibels_of(tensor, "sqnr_db", ""), figure(tensor, "sqnr_db")),
               cell(figure_of(tensor, "max_abs_diff"), figure(tensor, "max_abs_diff")),
               cell(words(tensor, "remark"))});
  return details(fmt::format("Weights that differ, are new, or are gone ({})", table.rows()), table.markup());
}

}  // namespace diff_section

std::vector<Section> diff_sections(const Json& whole) {
  const Json& document = first_result(whole);
  using namespace diff_section;
  Section section;
  const std::string a = file_name(words(document, "a")), b = file_name(words(document, "b"));
  const bool is_same = is_true(document, "same");
  section.title = fmt::format("diff: {} and {}", a, b);
  section.headline =
      is_same ? fmt::format("{} and {} are the same model", a, b)
              : fmt::format("{} differs from {}: {} nodes changed, {} new, {} gone; {} weights", b, a,
                            list(document, "nodes_changed").size(), list(document, "nodes_added").size(),
                            list(document, "nodes_removed").size(), list(document, "tensors").size());
  section.body =
      tiles({{"size", bytes_of(document, "bytes_before"), bytes_of(document, "bytes_after"), ""},
             {"nodes in both", "", figure_of(document, "nodes_matched", 9),
              fmt::format("{} are called otherwise", figure_of(document, "nodes_renamed", 9))},
             {"weights in both", "", figure_of(document, "tensors_matched", 9),
              fmt::format("{} are called otherwise", figure_of(document, "tensors_renamed", 9))}}) +
      change_table(document) + op_table(document) + node_table(document) + tensor_table(document);
  section.summary = {{b, "diff against " + a, bytes_of(document, "bytes_after"), "–", "–",
                      is_same ? "the same" : "different", Verdict::kNeutral}};
  return {section};
}

}  // namespace ounce::report::html
