#include "formats/tflite/edit/io_editor.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>

namespace ounce::tflite {
namespace {

constexpr std::size_t kMain = 0;  // the subgraph that is the model

template <class Action>
void for_main_signatures(Model& model, const Action& action) {
  for (Signature& signature : model.signatures) {
    if (signature.subgraph == kMain) action(signature);
  }
}

// One entry per tensor.
std::vector<bool> outputs_of(const SubGraph& graph) {
  std::vector<bool> are_outputs(graph.tensors.size());
  for (const std::int32_t output : graph.outputs) are_outputs[static_cast<std::size_t>(output)] = true;
  return are_outputs;
}

}  // namespace

void set_shape(Model& model, std::size_t tensor, std::span<const std::int64_t> dims, bool may_resize) {
  Tensor& changed = model.subgraphs[kMain].tensors[tensor];
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kUsage, what, describe_tensor(model, kMain, tensor));
  };
  if (dims.size() != changed.shape.size())
    refuse(fmt::format("has {} dimensions, not {}", changed.shape.size(), dims.size()));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] > std::numeric_limits<std::int32_t>::max())
      refuse(fmt::format("cannot have {} in dimension {}", dims[i], i));
    if (!may_resize && !is_dynamic(changed, i) && changed.shape[i] != dims[i])
      refuse(fmt::format("has {} in dimension {}, not {}", changed.shape[i], i, dims[i]));
    changed.shape[i] = static_cast<std::int32_t>(dims[i]);
  }
  changed.shape_signature.clear();
}

std::vector<std::size_t> computed_tensors(const Model& model) {
  const SubGraph& graph = model.subgraphs[kMain];
  const std::vector<bool> are_outputs = outputs_of(graph);
  std::vector<std::size_t> tensors;
  for (const Operator& op : graph.operators) {
    for (const std::int32_t output : op.outputs) {
      if (output < 0) continue;
      const auto tensor = static_cast<std::size_t>(output);
      const bool has_values = element_type_of(graph.tensors[tensor].type) != ElementType::kUndefined;
      if (has_values && !are_outputs[tensor]) tensors.push_back(tensor);
    }
  }
  return tensors;
}

void append_outputs(Model& model, std::span<const std::size_t> tensors) {
  SubGraph& graph = model.subgraphs[kMain];
  std::vector<bool> are_outputs = outputs_of(graph);
  for (const std::size_t tensor : tensors) {
    if (are_outputs[tensor]) continue;
    are_outputs[tensor] = true;
    const Bytes name = model.intern(fmt::format("ounce_output_{}", graph.outputs.size()));
    graph.outputs.push_back(static_cast<std::int32_t>(tensor));
    for_main_signatures(model, [&](Signature& signature) {
      TensorMap& map = signature.outputs.emplace_back();
      map.name = name;
      map.tensor = static_cast<std::uint32_t>(tensor);
    });
  }
}

void keep_outputs(Model& model, std::size_t count) {
  SubGraph& graph = model.subgraphs[kMain];
  graph.outputs.resize(std::min(count, graph.outputs.size()));
  const std::vector<bool> are_outputs = outputs_of(graph);
  for_main_signatures(model, [&](Signature& signature) {
    std::erase_if(signature.outputs, [&](const TensorMap& map) { return !are_outputs[map.tensor]; });
  });
}

}  // namespace ounce::tflite
