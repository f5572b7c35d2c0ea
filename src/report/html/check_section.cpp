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

}  // namespace ounce::report::html
