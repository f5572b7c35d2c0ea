#include "report/reports.h"

#include <fmt/format.h>

#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;

std::string opsets_text(const ModelInfo& info) {
  std::string text;
  for (const auto& [domain, version] : info.opsets)
    text += safe_format("{}{} {}", text.empty() ? "" : ", ", domain, version);
  return text;
}

// Metadata may be a whole document.
std::string start_of(const std::string& value) {
  constexpr std::size_t kShown = 80;
  if (value.size() <= kShown) return value;
  std::size_t end = kShown;
  while (end > kShown - 4 && (static_cast<unsigned char>(value[end]) & 0xc0U) == 0x80U) --end;
  return value.substr(0, end) + "…";
}

std::string count_table(const std::vector<NamedCount>& counts, const char* what) {
  Table table({{what}, {"count", Align::kRight}, {"bytes of weights", Align::kRight}});
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
  text += safe_format("  IR {}, opset {}{}\n", info.ir_version, opsets_text(info),
                      info.producer.empty() ? std::string() : ", made by " + info.producer);
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
  for (const std::string& note : info.notes) text += safe_format("note: {}\n", with_options(note));
  for (const std::string& blocker : info.blockers)
    text += safe_format("blocked: {}\n", with_options(blocker));
  if (info.bytes_after != 0) {
    text += safe_format("quantize would write {} ({})\n", bytes_text(info.bytes_after),
                        percent_text(ratio_of(info)));
  }
  return text;
}

std::string inspect_table(const std::vector<InspectRow>& rows) {
  Table table({{"model"},
               {"size", Align::kRight},
               {"nodes", Align::kRight},
               {"opset"},
               {"would be", Align::kRight},
               {"%", Align::kRight}});
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
    table.add({row.model.string(), bytes_text(info.bytes), std::to_string(info.nodes), opsets_text(info),
               is_smaller ? bytes_text(info.bytes_after) : "-",
               is_smaller ? percent_text(ratio_of(info)) : "-"});
  }
  table.add_rule();
  table.add({fmt::format("total {}", rows.size()), bytes_text(before), "", "", bytes_text(after),
             before == 0 ? "-" : percent_text(static_cast<double>(after) / static_cast<double>(before))});
  return table.text();
}

}  // namespace ounce::report
