#include "report/reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <tuple>

#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;

const char* sentence_of(const TargetCheck& target) {
  switch (target.verdict) {
    case Verdict::kRuns: return "runs";
    case Verdict::kSlow: return "runs, slower than it could";
    case Verdict::kWrong: return "WRONG RESULTS";
    case Verdict::kNotImplemented: return "DOES NOT LOAD";
    case Verdict::kFails: return "FAILS";
    case Verdict::kUnknown: break;
  }
  return target.measured.empty() ? "unknown" : "partly unknown";
}

constexpr std::size_t kOpsShown = 6;

// "takes 60 of 301 nodes in 4 partitions"
std::string taken_text(const ProviderHint& hint) {
  std::string text = fmt::format("takes {} of {} nodes", hint.taken, hint.nodes);
  std::vector<std::string> others;
  if (hint.folded != 0)
    others.push_back(fmt::format("{} constant{} computed at load", hint.folded, hint.folded == 1 ? "" : "s"));
  if (hint.nested != 0)
    others.push_back(fmt::format("{} node{} inside of others", hint.nested, hint.nested == 1 ? "" : "s"));
  if (!others.empty()) text += fmt::format(" (not counted: {})", fmt::join(others, ", "));
  if (hint.taken == 0) return text;
  if (hint.computing == 0) return text + ": no acceleration, as these only convert or move data";
  if (hint.is_node_by_node) return text + ", each on its own";
  text += fmt::format(" in {} partition{}", hint.partitions, hint.partitions == 1 ? "" : "s");
  if (hint.computing_partitions < hint.partitions)
    text += fmt::format(" ({} of them compute, the others convert or move data)", hint.computing_partitions);
  return text;
}

std::string count_text(std::size_t count) { return count == 0 ? "-" : fmt::format("{}", count); }

std::string execution_text(const Execution& execution) {
  if (!execution.error.empty())
    return (execution.is_run ? "executed there: " : "does not run there: ") +
           plain(with_options(execution.error));
  return safe_format(
      "executed there by ONNX Runtime {}: outputs are {} to those here", execution.runtime_version,
      std::isinf(execution.sqnr_db) ? "identical" : decibel_text(execution.sqnr_db) + " close");
}

// Nodes of one kind in one line: "3 ConvInteger T1=uint8 T2=int8 (a, b, c): not implemented there".
std::string finding_lines(const TargetCheck& target) {
  using Key = std::tuple<int, std::string, std::string, std::string>;
  std::map<Key, std::vector<std::string>> kinds;
  for (const NodeFinding& finding : target.findings) {
    const std::string op = finding.domain.empty() ? finding.op_type : finding.domain + "." + finding.op_type;
    kinds[{-static_cast<int>(finding.verdict), op, finding.types, with_options(finding.why)}].push_back(
        finding.name);
  }
  std::string text;
  if (target.measured.empty()) return text;  // nothing is known of any node
  for (const auto& [key, names] : kinds) {
    const auto& [verdict, op, types, why] = key;
    constexpr std::size_t kShown = 3;
    std::string list;
    for (std::size_t i = 0; i < names.size() && i < kShown; ++i) list += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kShown) list += " …";
    text += safe_format("  {}: {} {}{}{} ({}): {}\n", target.target, names.size(), op,
                        types.empty() ? "" : " ", types, list, why);
  }
  return text;
}

}  // namespace

std::string check_text(const CheckReport& report) {
  std::string text = safe_format(
      "{}: opset {}, IR {}, {} in the file, {} of weights in memory after loading\n", report.model.string(),
      report.opset, report.ir, bytes_text(report.file_bytes), bytes_text(report.memory_bytes));
  Table table({{"target"},
               {"verdict"},
               {"nodes", Align::kRight},
               {"run", Align::kRight},
               {"slow", Align::kRight},
               {"unknown", Align::kRight},
               {"broken", Align::kRight},
               {"measured on"}});
  for (const TargetCheck& target : report.targets) {
    table.add({target.target, sentence_of(target), count_text(target.nodes), count_text(target.runs),
               count_text(target.slow), count_text(target.unknown), count_text(target.broken),
               target.measured.empty() ? "-" : target.measured});
  }
  text += table.text();
  for (const TargetCheck& target : report.targets) {
    for (const std::string& problem : target.problems)
      text += safe_format("  {}: {}\n", target.target, with_options(problem));
    text += finding_lines(target);
    if (target.execution) text += safe_format("  {}: {}\n", target.target, execution_text(*target.execution));
    for (const std::string& note : target.notes)
      text += safe_format("  {}: note: {}\n", target.target, with_options(note));
  }
  for (const ProviderHint& hint : report.hints) {
    text += safe_format("  {} (documented, not measured): {}", hint.provider, taken_text(hint));
    if (!hint.left.empty()) {
      text += "; on the CPU: ";
      for (std::size_t i = 0; i < hint.left.size() && i < kOpsShown; ++i)
        text += (i == 0 ? "" : ", ") + plain(hint.left[i]);
      if (hint.left.size() > kOpsShown) text += " …";
    }
    if (!hint.note.empty()) text += "; " + plain(with_options(hint.note));
    text += '\n';
  }
  return text;
}

}  // namespace ounce::report
