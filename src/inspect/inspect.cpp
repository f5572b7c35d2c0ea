#include <ounce/model.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/cancel.h"
#include "formats/open.h"
#include "model/blocks.h"
#include "quantize/foresee.h"

namespace ounce {
namespace {

std::vector<ValueDescription> describe(std::span<const model::Port> ports) {
  std::vector<ValueDescription> descriptions;
  for (const model::Port& port : ports) {
    ValueDescription& value = descriptions.emplace_back(ValueDescription{port.name, port.text, {}});
    for (const model::Port::Dimension& dimension : port.shape) value.shape.push_back(dimension.value);
  }
  return descriptions;
}

std::vector<NamedCount> sorted(std::map<std::string, NamedCount>& counts) {
  std::vector<NamedCount> list;
  for (auto& [name, count] : counts) {
    count.name = name;
    list.push_back(count);
  }
  std::stable_sort(list.begin(), list.end(), [](const NamedCount& a, const NamedCount& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.count > b.count;
  });
  return list;
}

// Counts every constant's bytes for the op that uses it first. Constant nodes pass their bytes on to that op.
void count_contents(const model::ModelFile& file, ModelInfo& info) {
  std::map<std::string, NamedCount> ops, types;
  for (const model::GraphView& graph : file.graphs()) {
    if (graph.is_body) ++info.subgraphs;
    if (graph.is_function) ++info.functions;
    info.nodes += graph.nodes.size();
    for (const model::NodeView& node : graph.nodes) ++ops[std::string(node.op)].count;
    for (const model::ValueView& value : graph.values) {
      if (!value.constant) continue;
      const std::uint64_t bytes = value.constant->bytes;
      info.weight_bytes += bytes;
      NamedCount& type = types[std::string(name_of(value.constant->type))];
      ++type.count;
      type.bytes += bytes;
      if (!value.users.empty()) ops[std::string(file.node(value.users.front()).op)].bytes += bytes;
    }
  }
  info.ops = sorted(ops);
  info.element_types = sorted(types);
}

}  // namespace

ModelInfo inspect(const std::filesystem::path& path, const Recipe& recipe) {
  const CancellationScope scope(nullptr);
  validate(recipe);
  const model::ModelFilePtr file = formats::open_model(path);
  file->validate();
  ModelInfo info;
  info.path = path;
  info.bytes = file->bytes();
  info.format = name_of(file->kind());
  info.ir_version = file->schema_version();
  info.producer = file->producer();
  info.opsets = file->opsets();
  info.metadata = file->metadata();
  info.inputs = describe(file->inputs());
  info.outputs = describe(file->outputs());
  for (const auto& [location, bytes] : file->external()) info.external_files.push_back({location, 1, bytes});
  count_contents(*file, info);
  info.blocks = model::blocks_of(*file);
  quantization::foresee(*file, recipe, info);
  return info;
}

}  // namespace ounce
