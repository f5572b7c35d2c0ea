#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <tuple>

#include "report/messages.h"
#include "report/recipe_command.h"
#include "report/reports.h"
#include "report/table.h"

namespace ounce::report {
namespace {

// The versions that decide which runtimes load the model. The JSON document also has the operator versions of
// TFLite.
std::string versions_text(const ModelInfo& info) {
  if (info.format != "ONNX") return fmt::format("{}, schema {}", info.format, info.ir_version);
  std::string text;
  for (const auto& [domain, version] : info.opsets)
    text += safe_format("{}{} {}", text.empty() ? "" : ", ", domain, version);
  return text;
}

// Cuts long metadata values.
std::string start_of(const std::string& value) {
  constexpr std::size_t kShown = 80;
  if (value.size() <= kShown) return value;
  std::size_t end = kShown;
  while (end > kShown - 4 && (static_cast<unsigned char>(value[end]) & 0xc0U) == 0x80U) --end;
  return value.substr(0, end) + "…";
}

std::string count_table(const std::vector<NamedCount>& counts, const char* what) {
  Table table({what, ">count", ">bytes of weights"});
  for (const NamedCount& count : counts)
    table.add({count.name, std::to_string(count.count), count.bytes == 0 ? "" : bytes_text(count.bytes)});
  return table.text();
}

double ratio_of(const ModelInfo& info) {
  return static_cast<double>(info.bytes_after) / static_cast<double>(info.bytes);
}

}  // namespace

std::string inspect_text(const ModelInfo& info, std::size_t tensors) {
  std::string text = safe_format("{}: {}, {} of weights\n", info.path.string(), bytes_text(info.bytes),
                                 bytes_text(info.weight_bytes));
  text += safe_format(
      "  {}{}{}\n", info.format == "ONNX" ? fmt::format("IR {}, opset ", info.ir_version) : std::string(),
      versions_text(info), info.producer.empty() ? std::string() : ", produced by " + info.producer);
  text += fmt::format("  {} nodes, {} subgraphs, {} functions\n", info.nodes, info.subgraphs, info.functions);
  for (const ValueDescription& value : info.inputs)
    text += safe_format("  input   {}  {}\n", value.name, value.type);
  for (const ValueDescription& value : info.outputs)
    text += safe_format("  output  {}  {}\n", value.name, value.type);
  for (const NamedCount& file : info.external_files)
    text += safe_format("  external file {}, {}\n", file.name, bytes_text(file.bytes));
  for (const auto& [key, value] : info.metadata)
    text += safe_format("  metadata {} = {}\n", key, start_of(value));
  text += '\n' + count_table(info.ops, "op") + '\n' + count_table(info.element_types, "element type") + '\n';
  if (!info.tensors.empty()) text += tensor_table(info.tensors, tensors) + '\n';
  for (const std::string& note : info.notes) text += safe_format("note: {}\n", note_text(note));
  for (const std::string& blocker : info.blockers)
    text += safe_format("cannot be quantized: {}\n", with_options(blocker));
  if (info.bytes_after != 0) {
    text += safe_format("estimated size after quantization: {} ({})\n", bytes_text(info.bytes_after),
                        percent_text(ratio_of(info)));
  }
  return text;
}

std::string inspect_table(const std::vector<InspectRow>& rows) {
  Table table({"model", ">size", ">nodes", "opset", ">estimated", ">%"});
  std::uint64_t before = 0, after = 0;
  for (const InspectRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.string(), "-", "-", "-", "-", "-"});
      continue;
    }
    const ModelInfo& info = row.result;
    const bool is_smaller = info.bytes_after != 0;
    before += info.bytes;
    after += is_smaller ? info.bytes_after : info.bytes;
    table.add({row.model.string(), bytes_text(info.bytes), std::to_string(info.nodes), versions_text(info),
               is_smaller ? bytes_text(info.bytes_after) : "-",
               is_smaller ? percent_text(ratio_of(info)) : "-"});
  }
  table.add_rule();
  table.add({fmt::format("total {}", rows.size()), bytes_text(before), "", "", bytes_text(after),
             before == 0 ? "-" : percent_text(static_cast<double>(after) / static_cast<double>(before))});
  return table.text();
}

std::string overview_text(const Overview& found) {
  std::string text =
      safe_format("{}: {}, {}\n", found.model.string(), found.file_format, bytes_text(found.bytes));
  if (!found.family.empty()) text += safe_format("  family  {}\n", found.family);
  text += safe_format("  state   {}\n", found.already_quantized.empty() ? std::string("not quantized")
                                                                        : found.already_quantized);
  for (const ValueDescription& value : found.inputs)
    text += safe_format("  input   {}  {}\n", value.name, value.type);
  for (const ValueDescription& value : found.outputs)
    text += safe_format("  output  {}  {}\n", value.name, value.type);
  if (found.formats.empty()) {
    return text + (found.already_quantized.empty()
                       ? "\nThe model has no large FP32 weights, so quantization does not make it smaller.\n"
                       : "\nQuantize the original FP32 model instead of this one.\n");
  }
  Table table({"--to", "meaning", ">estimated size", ">%", "needs data", "speed"});
  std::string unfit;
  for (const FormatEstimate& format : found.formats) {
    if (!format.why_not.empty()) {
      unfit += safe_format("  {}: {}\n", std::string(name_of(format.format)), format.why_not);
      continue;
    }
    table.add({name_of(format.format), format.label, bytes_text(format.bytes), percent_text(format.ratio),
               format.needs_data ? "yes" : "no",
               format.is_faster         ? "usually faster"
               : is_half(format.format) ? "on GPUs and NPUs"
                                        : ""});
  }
  text += '\n' + table.text();
  if (!unfit.empty()) text += "Formats that do not fit this model:\n" + unfit;
  text += "\nNothing was measured or written. Commands to try:\n";
  bool names_data = false;
  for (const std::string& command : found.commands) {
    text += safe_format("  {}\n", command);
    names_data |= command.ends_with(" DATA");
  }
  if (names_data)
    text += "DATA: sample inputs as .npz, .npy, .csv or .jsonl, or a folder of images or audio files.\n";
  return text;
}

namespace diff_lines {

std::string scoped(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "/" + name;
}
std::string or_nothing(const std::string& text) { return text.empty() ? "–" : text; }
// Shortens long values, such as provenance records; the JSON document has them completely.
std::string in_short(const std::string& text) {
  constexpr std::size_t kMost = 60;
  return text.size() > kMost ? fmt::format("({} characters)", text.size()) : or_nothing(text);
}

std::string more_line(std::size_t count, std::size_t at_most) {
  return count > at_most ? fmt::format("… and {} more\n", count - at_most) : std::string();
}

std::string op_table(const DiffResult& result) {
  Table table({"op", ">before", ">after"});
  bool has_rows = false;
  for (const OpCount& op : result.ops) {
    if (op.before == op.after) break;
    table.add({op.op_type, fmt::format("{}", op.before), fmt::format("{}", op.after)});
    has_rows = true;
  }
  return has_rows ? table.text() : std::string();
}

std::string node_lines(const DiffResult& result, std::size_t at_most) {
  std::string text =
      safe_format("nodes: {} equal{}, {} changed, {} added, {} removed\n",
                  result.nodes_matched - result.nodes_changed.size(),
                  result.nodes_renamed == 0
                      ? ""
                      : fmt::format(" ({} of {} renamed)", result.nodes_renamed, result.nodes_matched),
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
  std::string text = safe_format("weights: {} in both models, {} changed, added or removed\n",
                                 result.tensors_matched, result.tensors.size());
  if (result.tensors.empty()) return text;
  Table table({"weight", "before", "after", ">SQNR", ">max |d|", ""});
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
      safe_format("{} ({}) compared with {} ({})\n", result.b.string(), bytes_text(result.bytes_after),
                  result.a.string(), bytes_text(result.bytes_before));
  for (const Change& change : result.changes)
    text += safe_format("{}{}{}: {} → {}\n", change.what, change.name.empty() ? "" : " ", change.name,
                        in_short(change.before), in_short(change.after));
  text += op_table(result) + node_lines(result, at_most) + tensor_lines(result, at_most);
  if (!result.is_same()) return text + "different\n";
  return text +
         (result.nodes_renamed + result.tensors_renamed == 0 ? "the same\n" : "the same except for names\n");
}

namespace {

const char* sentence_of(const TargetCheck& target) {
  switch (target.verdict) {
    case Verdict::kRuns: return "runs";
    case Verdict::kSlow: return "runs, partly in slow kernels";
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
    others.push_back(fmt::format("{} node{} in subgraphs", hint.nested, hint.nested == 1 ? "" : "s"));
  if (!others.empty()) text += fmt::format(" (not counted: {})", fmt::join(others, ", "));
  if (hint.taken == 0) return text;
  if (hint.computing == 0) return text + ": no acceleration, because these only convert or move data";
  if (hint.is_node_by_node) return text + ", each on its own";
  text += fmt::format(" in {} partition{}", hint.partitions, hint.partitions == 1 ? "" : "s");
  if (hint.computing_partitions < hint.partitions)
    text +=
        fmt::format(" ({} of them compute, the others only convert or move data)", hint.computing_partitions);
  return text;
}

std::string count_text(std::size_t count) { return count == 0 ? "-" : fmt::format("{}", count); }

std::string execution_text(const Execution& execution) {
  if (!execution.error.empty())
    return (execution.is_run ? "executed on the target: " : "does not run on the target: ") +
           plain(with_options(execution.error));
  return safe_format(
      "executed on the target by ONNX Runtime {}: outputs {} this machine", execution.runtime_version,
      std::isinf(execution.sqnr_db) ? "are identical to those on"
                                    : "have " + decibel_text(execution.sqnr_db) + " SQNR relative to");
}

// Lists nodes of one kind in one line: "3 ConvInteger T1=uint8 T2=int8 (a, b, c): not implemented".
std::string finding_lines(const TargetCheck& target) {
  using Key = std::tuple<int, std::string, std::string, std::string>;
  std::map<Key, std::vector<std::string>> kinds;
  for (const NodeFinding& finding : target.findings) {
    const std::string op = finding.domain.empty() ? finding.op_type : finding.domain + "." + finding.op_type;
    kinds[{-static_cast<int>(finding.verdict), op, finding.types, with_options(finding.why)}].push_back(
        finding.name);
  }
  std::string text;
  if (target.measured.empty()) return text;  // no node was measured for this target
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
  const std::string kind =
      report.format == "TFLite" ? "TFLite" : fmt::format("opset {}, IR {}", report.opset, report.ir);
  std::string text =
      safe_format("{}: {}, {} in the file, {} of weights in memory after loading\n", report.model.string(),
                  kind, bytes_text(report.file_bytes), bytes_text(report.memory_bytes));
  Table table({"target", "verdict", ">nodes", ">run", ">slow", ">unknown", ">broken", "measured on"});
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
      text += safe_format("  {}: note: {}\n", target.target, note_text(note));
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
