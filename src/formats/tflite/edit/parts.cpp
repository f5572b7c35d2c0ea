#include "formats/tflite/edit/parts.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "formats/tflite/file/versions.h"

namespace ounce::tflite {

std::uint32_t add_buffer(Model& model, Data data) {
  if (model.buffers.empty()) model.buffers.emplace_back();  // the first one is empty
  model.buffers.emplace_back().data = std::move(data);
  return static_cast<std::uint32_t>(model.buffers.size() - 1);
}

std::int32_t add_tensor(SubGraph& graph, Tensor tensor) {
  graph.tensors.push_back(std::move(tensor));
  return static_cast<std::int32_t>(graph.tensors.size() - 1);
}

std::uint32_t operator_code(Model& model, Builtin code, std::int32_t version) {
  OperatorCode wanted;
  wanted.code = static_cast<std::int32_t>(code);
  wanted.version = version;
  const auto found = std::find(model.operator_codes.begin(), model.operator_codes.end(), wanted);
  const auto index = static_cast<std::uint32_t>(found - model.operator_codes.begin());
  if (found == model.operator_codes.end()) model.operator_codes.push_back(wanted);
  return index;
}

void set_versions(Model& model) {
  const std::vector<OperatorCode>& old = model.operator_codes;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint32_t> places;  // by old index and version
  std::vector<OperatorCode> codes;
  for (SubGraph& graph : model.subgraphs) {
    for (Operator& op : graph.operators) {
      const std::uint32_t index = op.opcode_index;
      const std::int32_t version = std::max(old[index].version, least_version(model, graph, op));
      const auto [place, is_new] =
          places.try_emplace({index, version}, static_cast<std::uint32_t>(codes.size()));
      if (is_new) {
        codes.push_back(old[index]);
        codes.back().version = version;
      }
      op.opcode_index = place->second;
    }
  }
  model.operator_codes = std::move(codes);
}

void empty_unused_buffers(Model& model) {
  std::vector<bool> is_used(model.buffers.size());
  for (const SubGraph& graph : model.subgraphs) {
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.buffer < is_used.size()) is_used[tensor.buffer] = true;
    }
  }
  for (const Metadata& entry : model.metadata) is_used[entry.buffer] = true;
  for (const std::int32_t buffer : model.metadata_buffer) {
    if (buffer >= 0 && static_cast<std::size_t>(buffer) < is_used.size())
      is_used[static_cast<std::size_t>(buffer)] = true;
  }
  for (std::size_t i = 0; i < model.buffers.size(); ++i) {
    if (!is_used[i]) model.buffers[i].data = Data();
  }
}

}  // namespace ounce::tflite
