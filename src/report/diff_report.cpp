#include "report/diff_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <cmath>

#include "report/json.h"
#include "report/table.h"

namespace ounce::report {
namespace diff_lines {

using Json = nlohmann::ordered_json;
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
  std::string text = plainly(
      "nodes: {} are the same{}, {} changed, {} new, {} gone\n",
      result.nodes_matched - result.nodes_changed.size(),
      result.nodes_renamed == 0
          ? ""
          : fmt::format(" ({} of {} are called otherwise)", result.nodes_renamed, result.nodes_matched),
      result.nodes_changed.size(), result.nodes_added.size(), result.nodes_removed.size());
  const auto add = [&](const char* mark, const std::vector<NodeChange>& nodes) {
    for (std::size_t i = 0; i < std::min(at_most, nodes.size()); ++i) {
      text +=
          plainly("  {} {} {}{}{}\n", mark, nodes[i].op_type, scoped(nodes[i].scope, nodes[i].name),
                  nodes[i].changes.empty() ? "" : ": ", fmt::format("{}", fmt::join(nodes[i].changes, "; ")));
    }
    text += more_line(nodes.size(), at_most);
  };
  add("~", result.nodes_changed);
  add("+", result.nodes_added);
  add("-", result.nodes_removed);
  return text;
}

std::string tensor_lines(const DiffResult& result, std::size_t at_most) {
  std::string text = plainly("weights: {} in both, {} differ, are new or gone\n", result.tensors_matched,
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

Json node_json(const NodeChange& node) {
  Json json = {{"name", node.name}, {"scope", node.scope}, {"op_type", node.op_type}};
  if (!node.name_after.empty()) json["name_after"] = node.name_after;
  if (!node.changes.empty()) json["changes"] = node.changes;
  return json;
}

Json nodes_json(const std::vector<NodeChange>& nodes) {
  Json all = Json::array();
  for (const NodeChange& node : nodes) all.push_back(node_json(node));
  return all;
}

Json missing_or(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace diff_lines

std::string diff_text(const DiffResult& result, std::size_t at_most) {
  using namespace diff_lines;
  std::string text = plainly("{} ({}) against {} ({})\n", result.b.string(), bytes_text(result.bytes_after),
                             result.a.string(), bytes_text(result.bytes_before));
  for (const Change& change : result.changes)
    text += plainly("{}{}{}: {} → {}\n", change.what, change.name.empty() ? "" : " ", change.name,
                    in_short(change.before), in_short(change.after));
  text += op_table(result) + node_lines(result, at_most) + tensor_lines(result, at_most);
  if (!result.is_same()) return text + "different\n";
  return text +
         (result.nodes_renamed + result.tensors_renamed == 0 ? "the same\n" : "the same, but for names\n");
}

nlohmann::ordered_json diff_json(const DiffResult& result) {
  using namespace diff_lines;
  Json json;
  json["schema_version"] = kSchemaVersion;
  json["verb"] = "diff";
  json["a"] = result.a.string();
  json["b"] = result.b.string();
  json["same"] = result.is_same();
  json["bytes_before"] = result.bytes_before;
  json["bytes_after"] = result.bytes_after;
  json["changes"] = Json::array();
  for (const Change& change : result.changes)
    json["changes"].push_back({{"what", change.what},
                               {"name", change.name},
                               {"before", missing_or(change.before)},
                               {"after", missing_or(change.after)}});
  json["ops"] = Json::array();
  for (const OpCount& op : result.ops)
    json["ops"].push_back({{"op_type", op.op_type}, {"before", op.before}, {"after", op.after}});
  json["nodes_matched"] = result.nodes_matched;
  json["nodes_renamed"] = result.nodes_renamed;
  json["nodes_changed"] = nodes_json(result.nodes_changed);
  json["nodes_added"] = nodes_json(result.nodes_added);
  json["nodes_removed"] = nodes_json(result.nodes_removed);
  json["tensors_matched"] = result.tensors_matched;
  json["tensors_renamed"] = result.tensors_renamed;
  json["tensors"] = Json::array();
  for (const TensorChange& tensor : result.tensors) {
    Json one = {{"name", tensor.name},
                {"scope", tensor.scope},
                {"before", missing_or(tensor.before)},
                {"after", missing_or(tensor.after)}};
    if (!tensor.name_after.empty()) one["name_after"] = tensor.name_after;
    one["compared"] = tensor.is_compared;
    one["sqnr_db"] = tensor.is_compared ? number(tensor.sqnr_db) : Json(nullptr);
    one["max_abs_diff"] = tensor.is_compared ? number(tensor.max_abs_diff) : Json(nullptr);
    if (!tensor.remark.empty()) one["remark"] = tensor.remark;
    json["tensors"].push_back(std::move(one));
  }
  return json;
}

}  // namespace ounce::report
