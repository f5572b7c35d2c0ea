#include "plan/around_codes.h"

#include <algorithm>

#include "onnx/settings.h"
#include "plan/integer_ops.h"
#include "plan/op_table.h"

namespace ounce::plan {
namespace {

using graph::kNone;
using onnx::Bytes;

constexpr std::size_t kMostScaleUses = 16;
constexpr int kLongestScale = 4;  // nodes that make one

bool leads_to_scale(const graph::Index& index, std::size_t body, const onnx::Node& node, int steps) {
  const graph::Value* value = node.outputs.size() == 1 ? index.find(body, node.outputs[0]).value : nullptr;
  if (value == nullptr || value->is_output || value->uses.empty() || steps == 0) return false;
  if (value->uses.size() > kMostScaleUses) return false;
  return std::all_of(value->uses.begin(), value->uses.end(), [&](const graph::Use& use) {
    const onnx::Node& next = index.node(use);
    return is_quantized_op(next) ? use.input != 0 : leads_to_scale(index, use.body, next, steps - 1);
  });
}

}  // namespace

bool is_between_codes(const graph::Index& index, std::size_t body, const onnx::Node& node) {
  const auto is_decoded = [&](Bytes name) {
    const auto [value, home] = index.find(body, name);
    return value != nullptr && value->producer != kNone &&
           is_op(*index.bodies()[home].nodes()[value->producer], "DequantizeLinear");
  };
  const auto is_coded = [&](Bytes name) {
    const graph::Value* value = index.find(body, name).value;
    return value != nullptr && !value->uses.empty() && !value->is_output &&
           std::all_of(value->uses.begin(), value->uses.end(),
                       [&](const graph::Use& use) { return is_op(index.node(use), "QuantizeLinear"); });
  };
  const IntegerOp* op = find_integer_op(node);
  const std::size_t wanted = op == nullptr ? 0 : op->activations(node) + (op->has_weight() ? 1 : 0);
  const bool takes_codes =
      op != nullptr && node.inputs.size() >= wanted &&
      std::all_of(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(wanted), is_decoded);
  const bool gives_codes = !node.outputs.empty() && is_coded(node.outputs[0]);
  return (gives_codes && is_clamp(node)) || takes_codes;
}

bool makes_scale(const graph::Index& index, std::size_t body, const onnx::Node& node) {
  return leads_to_scale(index, body, node, kLongestScale);
}

}  // namespace ounce::plan
