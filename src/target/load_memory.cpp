#include "target/load_memory.h"

#include <algorithm>

#include "graph/constants.h"
#include "onnx/settings.h"

namespace ounce::target {
namespace {

std::uint64_t loaded_bytes(const graph::Index& index, const onnx::Tensor& tensor, const graph::Value& value) {
  const auto is_used_by = [&](const char* op) {
    return !value.uses.empty() &&
           std::all_of(value.uses.begin(), value.uses.end(),
                       [&](const graph::Use& use) { return is_op(index.node(use), op); });
  };
  constexpr std::uint64_t kFloat = 4;
  if (is_used_by("BitShift")) return tensor.element_count() * 2 * kFloat;  // two codes a byte
  if (is_used_by("Cast")) return tensor.element_count() * kFloat;
  return tensor.byte_count();
}

}  // namespace

std::uint64_t weights_after_loading(const graph::Index& index) {
  std::uint64_t bytes = 0;
  for (const graph::Body& body : index.bodies()) {
    const auto add = [&](const onnx::Tensor& tensor, onnx::Bytes name) {
      const auto found = body.values.find(name);
      if (found != body.values.end()) bytes += loaded_bytes(index, tensor, found->second);
    };
    if (body.graph != nullptr) {
      for (const auto& tensor : body.graph->initializers) add(*tensor, tensor->name);
    }
    for (const auto& node : body.nodes()) {
      const onnx::Tensor* tensor = graph::constant_tensor(*node);
      if (tensor != nullptr && !node->outputs.empty()) add(*tensor, node->outputs[0]);
    }
  }
  return bytes;
}

}  // namespace ounce::target
