#include "passes/mean_to_pool.h"

#include <algorithm>
#include <cstring>

#include "onnx/settings.h"
#include "onnx/values.h"
#include "passes/chain.h"
#include "passes/code_paths.h"
#include "passes/constants.h"
#include "passes/editors.h"
#include "plan/integer_ops.h"
#include "plan/op_table.h"

namespace ounce::passes {
namespace {

using graph::kNone;

// Through ops that keep the rank, back to a Conv; 0 where there is none.
std::size_t rank_behind_conv(const onnx::Model& model, const graph::Index& index, std::size_t body,
                             Bytes name) {
  for (int steps = 0; steps < plan::kLongestSearch; ++steps) {
    const auto found = index.find(body, name);
    if (found.value == nullptr || found.value->producer == kNone) return 0;
    body = found.body;
    const onnx::Node& node = *index.bodies()[body].nodes()[found.value->producer];
    if (is_op(node, "Conv") || is_op(node, "ConvTranspose")) {
      const auto weight = find_constant(model, index, body, input_of(node, 1));
      return weight ? weight->tensor->dims.size() : 0;
    }
    static constexpr auto kKeepRank =
        std::to_array<std::string_view>({"Add", "AveragePool", "BatchNormalization", "Concat", "HardSigmoid",
                                         "HardSwish", "LeakyRelu", "MaxPool", "Mul", "Sigmoid", "Tanh"});
    const bool keeps_rank = plan::is_clamp(node) ||
                            (onnx::is_default_domain(node.domain) &&
                             std::find(kKeepRank.begin(), kKeepRank.end(), node.op_type) != kKeepRank.end());
    if (!keeps_rank || node.inputs.empty()) return 0;
    const bool is_number_first = find_constant(model, index, body, node.inputs[0]).has_value();
    if (is_number_first && node.inputs.size() < 2) return 0;
    name = node.inputs[is_number_first ? 1 : 0];
  }
  return 0;
}

// From opset 18 on they are an input.
std::optional<std::vector<std::int64_t>> axes_of(const onnx::Model& model, const graph::Index& index,
                                                 std::size_t body, const onnx::Node& node) {
  if (const auto axes = onnx::integers_attribute(node, "axes")) return axes;
  const auto constant = find_constant(model, index, body, input_of(node, 1));
  if (!constant || constant->tensor->type != ElementType::kInt64) return std::nullopt;
  const onnx::RawValues raw(*constant->tensor);
  std::vector<std::int64_t> axes(raw.bytes().size() / sizeof(std::int64_t));
  if (!axes.empty()) std::memcpy(axes.data(), raw.bytes().data(), axes.size() * sizeof(std::int64_t));
  return axes;
}

// All positions, in any order.
bool are_positions(std::vector<std::int64_t> axes, std::size_t rank) {
  for (std::int64_t& axis : axes) axis += axis < 0 ? static_cast<std::int64_t>(rank) : 0;
  std::sort(axes.begin(), axes.end());
  if (rank < 3 || axes.size() != rank - 2) return false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<std::int64_t>(i) + 2) return false;
  }
  return true;
}

}  // namespace

Changes mean_to_pool(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  Changes changes;
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    if (!is_op(node, "ReduceMean") || !stands_between_integers(index, body, node)) return;
    const auto axes = axes_of(model, index, body, node);
    const auto keeps = onnx::integer_setting(node, "keepdims", 1);
    if (!axes || !keeps || !are_positions(*axes, rank_behind_conv(model, index, body, node.inputs[0])))
      return;
    BodyEditor& editor = editors.of(body);
    Chain chain(editor, position, node.inputs[0]);
    chain.node("GlobalAveragePool", {});
    if (*keeps == 0) chain.node("Flatten", {});
    chain.finish(node.outputs[0]);
    editor.remove_node(position);
    ++changes.count;
  });
  editors.finish();
  return changes;
}

}  // namespace ounce::passes
