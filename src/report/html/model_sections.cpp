#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "report/html/section.h"

namespace ounce::report::html {

namespace check_section {

constexpr std::size_t kMostColumns = 40, kMostModels = 500;

struct Answer {
  Verdict kind;
  const char* words;
};

Answer answer_of(const std::string& verdict) {
  if (verdict == "runs") return {Verdict::kGood, "runs"};
  if (verdict == "slow") return {Verdict::kGood, "runs, partly in slow kernels"};
  if (verdict == "wrong") return {Verdict::kBad, "wrong results"};
  if (verdict == "not_implemented") return {Verdict::kBad, "does not load"};
  if (verdict == "fails") return {Verdict::kBad, "fails"};
  return {Verdict::kNeutral, "unknown"};
}

// The targets that get a column. The limit keeps the table readable, and its size linear in the models.
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

// A table of models and targets.
Markup matrix(const Json& document) {
  const std::vector<std::string> targets = columns_of(list(document, "results"));
  std::vector<Column> columns = {{"model"}};
  for (const std::string& target : targets) columns.push_back({target});
  DataTable table(targets.size() < kMostColumns
                      ? "Support by target"
                      : fmt::format("Support by target: the first {} targets", kMostColumns),
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
    table.add(cells);
  }
  return table.markup();
}

Markup target_part(const Json& target) {
  const Json &findings = list(target, "findings"), &execution = member(target, "execution");
  Markup content =
      note_list(sentences(target, "problems")) + note_list(sentences(target, "notes")) +
      data_table("Nodes with findings", findings,
                 {text_column("node", "name"), text_column("op", "op_type"), text_column("types", "types"),
                  text_column("verdict", "verdict"), text_column("reason", "why")});
  if (execution.is_object())
    content += paragraph(
        words(execution, "error").empty()
            ? fmt::format("Executed on the target by ONNX Runtime {}.", words(execution, "runtime_version"))
            : "Executed on the target: " + words(execution, "error"));
  const Answer found = answer_of(words(target, "verdict"));
  return details(fmt::format("{}: {} ({} of {} nodes run{})", words(target, "target"), found.words,
                             figure_of(target, "runs", 9), figure_of(target, "nodes", 9),
                             findings.empty() ? "" : fmt::format(", {} findings", findings.size())),
                 content);
}

Markup hint_table(const Json& model) {
  return data_table("Execution providers, according to their documentation", list(model, "hints"),
                    {text_column("provider", "provider"), figure_column("nodes taken", "taken", 9),
                     figure_column("of", "nodes", 9), figure_column("computing", "computing", 9),
                     figure_column("partitions", "partitions", 9), text_column("note", "note")});
}

}  // namespace check_section

std::vector<Section> check_sections(const Json& document) {
  using namespace check_section;
  Section section;
  section.title = "check: target support";
  std::size_t good = 0, bad = 0;
  Markup parts;
  std::size_t models = 0;
  for (const Json& error : list(document, "errors")) {
    ++bad;
    if (++models > kMostModels) continue;
    parts += note_list({words(error, "message")});
    section.summary.push_back({file_name(error, "model"), "check", "–", "–", "–", "error", Verdict::kBad});
  }
  for (const Json& model : list(document, "results")) {
    const std::string name = file_name(model, "model");
    if (++models > kMostModels) {  // counted, but not shown
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
    parts += hint_table(model);
  }
  if (models > kMostModels)
    parts += paragraph(
        fmt::format("{} more models are not shown; the JSON document has all.", models - kMostModels));
  section.verdict = bad == 0 ? Verdict::kGood : Verdict::kBad;
  section.headline = bad == 0 ? fmt::format("no problems found on {} target{}", good, good == 1 ? "" : "s")
                              : fmt::format("{} of {} checks failed", bad, good + bad);
  section.body = matrix(document) + parts;
  return {section};
}

namespace diff_section {

std::string scoped_name(const Json& entry) {
  const std::string scope = words(entry, "scope"), after = words(entry, "name_after");
  return (scope.empty() ? "" : scope + "/") + words(entry, "name") + (after.empty() ? "" : " → " + after);
}

Column side_column(const char* key) {
  return {key, [key](const Json& entry) {
            const std::string text = words(entry, key);
            return cell(text.empty() ? "–" : text);
          }};
}

Markup change_table(const Json& document) {
  const auto what = [](const Json& change) {
    return cell(words(change, "what") + " " + words(change, "name"));
  };
  return data_table("Model properties", list(document, "changes"),
                    {{"property", what}, side_column("before"), side_column("after")});
}

Markup op_table(const Json& document) {
  const auto change = [](const Json& op) {
    const double by = figure(op, "after").value_or(0) - figure(op, "before").value_or(0);
    return cell(by == 0 ? "" : fmt::format("{:+.0f}", by), by);
  };
  return data_table("Ops", list(document, "ops"),
                    {text_column("op", "op_type"),
                     figure_column("before", "before", 9),
                     figure_column("after", "after", 9),
                     {"change", change, /*is_number=*/true}});
}

Markup node_table(const Json& document) {
  const std::string title = "Changed, added and removed nodes";
  DataTable table(title, {{"node"}, {"op"}, {"change"}, {"details"}});
  const auto add = [&](const char* key, const char* change) {
    for (const Json& node : list(document, key))
      table.add({cell(scoped_name(node)), cell(words(node, "op_type")), cell(change),
                 cell(fmt::format("{}", fmt::join(sentences(node, "changes"), "; ")))});
  };
  add("nodes_changed", "changed");
  add("nodes_added", "added");
  add("nodes_removed", "removed");
  return details(fmt::format("{} ({})", title, table.rows()), table.markup());
}

Markup tensor_table(const Json& document) {
  const std::string title = "Changed, added and removed weights";
  const Json& tensors = list(document, "tensors");
  return details(fmt::format("{} ({})", title, tensors.size()),
                 data_table(title, tensors,
                            {text_column("weight", scoped_name), side_column("before"), side_column("after"),
                             decibel_column("SQNR", "sqnr_db"), figure_column("max |d|", "max_abs_diff"),
                             text_column("remark", "remark")}));
}

}  // namespace diff_section

std::vector<Section> diff_sections(const Json& whole) {
  const Json& document = first_result(whole);
  using namespace diff_section;
  Section section;
  const std::string a = file_name(document, "a"), b = file_name(document, "b");
  const bool is_same = is_true(document, "same");
  section.title = fmt::format("diff: {} and {}", a, b);
  section.headline =
      is_same ? fmt::format("{} and {} are the same model", a, b)
              : fmt::format("{} differs from {}: {} nodes changed, {} added, {} removed; {} weights", b, a,
                            list(document, "nodes_changed").size(), list(document, "nodes_added").size(),
                            list(document, "nodes_removed").size(), list(document, "tensors").size());
  section.body = tiles({{"size", bytes_of(document, "bytes_before"), bytes_of(document, "bytes_after"), ""},
                        {"common nodes", "", figure_of(document, "nodes_matched", 9),
                         fmt::format("{} renamed", figure_of(document, "nodes_renamed", 9))},
                        {"common weights", "", figure_of(document, "tensors_matched", 9),
                         fmt::format("{} renamed", figure_of(document, "tensors_renamed", 9))}}) +
                 change_table(document) + op_table(document) + node_table(document) + tensor_table(document);
  section.summary = {{b, "diff with " + a, bytes_of(document, "bytes_after"), "–", "–",
                      is_same ? "the same" : "different", Verdict::kNeutral}};
  return {section};
}

}  // namespace ounce::report::html
