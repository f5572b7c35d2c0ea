#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/html/document.h"
#include "report/html/section.h"

namespace ounce::report::html {

namespace check_section {

constexpr auto kNumber = DataTable::Kind::kNumber;
constexpr std::size_t kMostColumns = 40, kMostModels = 500;

struct Answer {
  Verdict kind;
  const char* words;
};

Answer answer_of(const std::string& verdict) {
  if (verdict == "runs") return {Verdict::kGood, "runs"};
  if (verdict == "slow") return {Verdict::kGood, "runs, slower than it could"};
  if (verdict == "wrong") return {Verdict::kBad, "wrong results"};
  if (verdict == "not_implemented") return {Verdict::kBad, "does not load"};
  if (verdict == "fails") return {Verdict::kBad, "fails"};
  return {Verdict::kNeutral, "not all of it is known"};
}

// The targets that have a column: a table with more of them is not read, and grows with models times targets.
std::vector<std::string> columns_of(const Json& models) {
  std::vector<std::string> targets;
  for (const Json& model : models) {
    for (const Json& target : list(model, "targets")) {
      if (targets.size() == kMostColumns) return targets;
      const std::string name = words(target, "target");
      if (std::find(targets.begin(), targets.end(), name) == targets.end()) targets.push_back(name);
    }
  }
  return targets;
}

// Every model against every target that was asked about.
Markup matrix(const Json& document) {
  const std::vector<std::string> targets = columns_of(list(document, "results"));
  std::vector<DataTable::Column> columns = {{"model"}};
  for (const std::string& target : targets) columns.push_back({target});
  DataTable table(targets.size() < kMostColumns
                      ? "Where it runs, and where not"
                      : fmt::format("Where it runs, and where not: the first {} targets", kMostColumns),
                  columns);
  for (const Json& model : list(document, "results")) {
    std::vector<Cell> cells = {cell(words(model, "model"))};
    cells.resize(1 + targets.size(), {text("–")});
    for (const Json& target : list(model, "targets")) {
      const auto column = std::find(targets.begin(), targets.end(), words(target, "target"));
      if (column == targets.end()) continue;
      const Answer found = answer_of(words(target, "verdict"));
      cells[1 + static_cast<std::size_t>(column - targets.begin())] = {badge(found.kind, found.words)};
    }
    table.add(std::move(cells));
  }
  return table.markup();
}

Markup target_part(const Json& target) {
  DataTable findings("Nodes that do not plainly run", {{"node"}, {"op"}, {"types"}, {"verdict"}, {"why"}});
  for (const Json& finding : list(target, "findings"))
    findings.add({cell(words(finding, "name")), cell(words(finding, "op_type")),
                  cell(words(finding, "types")), cell(words(finding, "verdict")),
                  cell(words(finding, "why"))});
  Markup content =
      note_list(sentences(target, "problems")) + note_list(sentences(target, "notes")) + findings.markup();
  if (const Json& execution = member(target, "execution"); execution.is_object())
    content += paragraph(words(execution, "error").empty() ? fmt::format("Executed there by ONNX Runtime {}.",
                                                                         words(execution, "runtime_version"))
                                                           : "Executed there: " + words(execution, "error"));
  const Answer found = answer_of(words(target, "verdict"));
  return details(fmt::format("{}: {} ({} of {} nodes run{})", words(target, "target"), found.words,
                             figure_of(target, "runs", 9), figure_of(target, "nodes", 9),
                             findings.is_empty() ? "" : fmt::format(", {} to look at", findings.rows())),
                 content);
}

}  // namespace check_section

std::vector<Section> check_sections(const Json& document) {
  using namespace check_section;
  Section section;
  section.title = "check: where it runs";
  std::size_t good = 0, bad = 0;
  Markup parts;
  std::size_t models = 0;
  for (const Json& error : list(document, "errors")) {
    ++bad;
    if (++models > kMostModels) continue;
    parts += note_list({words(error, "message")});
    section.summary.push_back(
        {file_name(words(error, "model")), "check", "–", "–", "–", "could not be read", Verdict::kBad});
  }
  for (const Json& model : list(document, "results")) {
    const std::string name = file_name(words(model, "model"));
    if (++models > kMostModels) {  // counted, and not drawn
      for (const Json& target : list(model, "targets"))
        ++(answer_of(words(target, "verdict")).kind == Verdict::kBad ? bad : good);
      continue;
    }
    parts += element("h3", text(words(model, "model"))) +
             paragraph(fmt::format("Opset {}, IR {}, {} in the file, {} of weights in memory.",
                                   figure_of(model, "opset", 6), figure_of(model, "ir_version", 6),
                                   bytes_of(model, "file_bytes"), bytes_of(model, "memory_bytes")));
    for (const Json& target : list(model, "targets")) {
      const Answer found = answer_of(words(target, "verdict"));
      ++(found.kind == Verdict::kBad ? bad : good);
      parts += target_part(target);
      section.summary.push_back({name, "check " + words(target, "target"), bytes_of(model, "file_bytes"), "–",
                                 "–", found.words, found.kind});
    }
    DataTable hints("Execution providers, by their documentation", {{"provider"},
                                                                    {"takes", kNumber},
                                                                    {"of nodes", kNumber},
                                                                    {"of them compute", kNumber},
                                                                    {"partitions", kNumber},
                                                                    {"note"}});
    for (const Json& hint : list(model, "hints"))
      hints.add({cell(words(hint, "provider")), cell(figure_of(hint, "taken", 9), figure(hint, "taken")),
                 cell(figure_of(hint, "nodes", 9), figure(hint, "nodes")),
                 cell(figure_of(hint, "computing", 9), figure(hint, "computing")),
                 cell(figure_of(hint, "partitions", 9), figure(hint, "partitions")),
                 cell(words(hint, "note"))});
    parts += hints.markup();
  }
  if (models > kMostModels)
    parts += paragraph(
        fmt::format("{} more models are not drawn; the JSON document has them.", models - kMostModels));
  section.verdict = bad == 0 ? Verdict::kGood : Verdict::kBad;
  section.headline = bad == 0
                         ? fmt::format("nothing stands in the way on {} target{}", good, good == 1 ? "" : "s")
                         : fmt::format("{} of {} cannot be used", bad, good + bad);
  section.body = matrix(document) + parts;
  return {section};
}

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
