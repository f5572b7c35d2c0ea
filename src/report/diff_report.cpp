#include "report/reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "report/table.h"

namespace ounce::report {
namespace diff_lines {

using Align = Table::Align;

std::string scoped(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "/" + name;
}
std::string or_nothing(const std::string& text) { return text.empty() ? "–" : text; }
// A statement, a contract: JSON has them whole.
std::string in_short(const std::string& text) {
  constexpr std::size_t kMost = 60;
  return text.size() > kMost ? fmt::format("({} characters)", text.size()) : or_nothing(text);
}

std::string more_line(std::size_t count, std::size_t at_most) {
  return count > at_most ? fmt::format("… and {} more\n", count - at_most) : std::string();
}

std::string op_table(const DiffResult& result) {
  Table table({{"op"}, {"before", Align::kRight}, {"after", Align::kRight}});
  bool has_rows = false;
  for (const OpCount& op : result.ops) {
    if (op.before == op.after) break;
    table.add({op.op_type, fmt::format("{}", op.before), fmt::format("{}", op.after)});
    has_rows = true;
  }
  return has_rows ? table.text() : std::string();
}

std::string node_lines(const DiffResult& result, std::size_t at_most) {
  std::string text = safe_format(
      "nodes: {} are the same{}, {} changed, {} new, {} gone\n",
      result.nodes_matched - result.nodes_changed.size(),
      result.nodes_renamed == 0
          ? ""
          : fmt::format(" ({} of {} are called otherwise)", result.nodes_renamed, result.nodes_matched),
      result.nodes_changed.size(), result.nodes_added.size(), result.nodes_removed.size());
  const auto add = [&](const char* mark, const std::vector<NodeChange>& nodes) {
    for (std::size_t i = 0; i < std::min(at_most, nodes.size()); ++i) {
      text += safe_format("  {} {} {}{}{}\n", mark, nodes[i].op_type, scoped(nodes[i].scope, nodes[i].name),
                          nodes[i].changes.empty() ? "" : ": ",
                          fmt::format("{}", fmt::join(nodes[i].changes, "; ")));
    }
    text += more_line(nodes.size(), at_most);
  };
  add("~", result.nodes_changed);
  add("+", result.nodes_added);
  add("-", result.nodes_removed);
  return text;
}

std::string tensor_lines(const DiffResult& result, std::size_t at_most) {
  std::string text = safe_format("weights: {} in both, {} differ, are new or gone\n", result.tensors_matched,
                                 result.tensors.size());
  if (result.tensors.empty()) return text;
  Table table({{"weight"}, {"before"}, {"after"}, {"SQNR", Align::kRight}, {"max |d|", Align::kRight}, {""}});
  for (std::size_t i = 0; i < std::min(at_most, result.tensors.size()); ++i) {
    const TensorChange& tensor = result.tensors[i];
    table.add(
        {scoped(tensor.scope, tensor.name) + (tensor.name_after.empty() ? "" : " → " + tensor.name_after),
         or_nothing(tensor.before), or_nothing(tensor.after),
         tensor.is_compared ? decibel_text(tensor.sqnr_db) : "-",
         tensor.is_compared ? fmt::format("{:.4g}", tensor.max_abs_diff) : "-", tensor.remark});
  }
  return text + table.text() + more_line(result.tensors.size(), at_most);
}

}  // namespace diff_lines

std::string diff_text(const DiffResult& result, std::size_t at_most) {
  using namespace diff_lines;
  std::string text =
      safe_format("{} ({}) against {} ({})\n", result.b.string(), bytes_text(result.bytes_after),
                  result.a.string(), bytes_text(result.bytes_before));
  for (const Change& change : result.changes)
    text += safe_format("{}{}{}: {} → {}\n", change.what, change.name.empty() ? "" : " ", change.name,
                        in_short(change.before), in_short(change.after));
  text += op_table(result) + node_lines(result, at_most) + tensor_lines(result, at_most);
  if (!result.is_same()) return text + "different\n";
  return text +
         (result.nodes_renamed + result.tensors_renamed == 0 ? "the same\n" : "the same, but for names\n");
}

}  // namespace ounce::report
