#include "formats/onnx/plan/op_rules.h"

#include <algorithm>

#include "formats/onnx/file/attributes.h"

namespace ounce::plan {

using enum ChannelRule;

std::size_t kernel_taps(ChannelRule rule, std::span<const std::int64_t> dims) {
  std::size_t taps = 1;
  if (rule != kFirst && rule != kSecond) return taps;
  for (std::size_t i = 2; i < dims.size(); ++i) taps *= static_cast<std::size_t>(dims[i]);
  return taps;
}

std::optional<ChannelAxes> channel_axes(ChannelRule rule, const onnx::Node& node, std::size_t rank) {
  const auto at = [&](std::size_t axis) -> std::optional<ChannelAxes> {
    if (axis >= rank) return std::nullopt;
    return ChannelAxes{axis, axis + 1};
  };
  const auto is_set = [&](const char* name) { return onnx::integer_attribute(node, name).value_or(0) != 0; };
  switch (rule) {
    case kFirst: return at(0);
    case kSecond: return at(1);
    case kLast: return rank < 2 ? std::nullopt : at(rank - 1);
    case kSecondLast: return rank < 2 ? std::nullopt : at(rank - 2);
    case kGemmA: return at(is_set("transA") ? 1 : 0);
    case kGemmB: return at(is_set("transB") ? 0 : 1);
    case kRecurrent: return rank < 2 ? std::nullopt : std::optional(ChannelAxes{0, 2});
    case kTableRow: return rank < 2 ? std::nullopt : at(0);
  }
  return std::nullopt;
}

std::optional<ChannelAxes> axes_before(const onnx::Node& movement, ChannelAxes axes, std::size_t input_rank) {
  const Op op = movement.op();
  if (op == Op::kReshape || op == Op::kFlatten) return std::nullopt;
  if (op == Op::kTranspose) {
    if (axes.last - axes.first != 1) return std::nullopt;
    const auto permutation = onnx::integers_attribute(movement, "perm");
    std::size_t axis = input_rank - 1 - axes.first;  // without perm the axes are reversed
    if (permutation && !permutation->empty()) {
      if (axes.first >= permutation->size()) return std::nullopt;
      axis = static_cast<std::size_t>((*permutation)[axes.first]);
    }
    return axis < input_rank ? std::optional(ChannelAxes{axis, axis + 1}) : std::nullopt;
  }
  // In front of a weight, Unsqueeze and Squeeze usually add and remove the leading axis (a direction, a
  // batch). For other axes the groups would be along a wrong axis: still correct, but less accurate.
  if (op == Op::kUnsqueeze) {
    if (axes.last < 2) return std::nullopt;
    return ChannelAxes{axes.first == 0 ? 0 : axes.first - 1, axes.last - 1};
  }
  if (op == Op::kSqueeze) return ChannelAxes{axes.first + 1, axes.last + 1};
  return axes.last <= input_rank ? std::optional(axes) : std::nullopt;
}

namespace {

// A Resize that interpolates new values.
bool is_blend(const onnx::Node& node) {
  return node.op() == Op::kResize && onnx::string_setting(node, "mode", "nearest") != "nearest";
}

}  // namespace

const IntegerForm* find_static_form(const onnx::Node& node) {
  const IntegerForm& form = node.info().static8;
  return form.has_kernel() && !is_fused_wrongly(node) && !is_blend(node) ? &form : nullptr;
}

const IntegerForm* find_dynamic_form(const onnx::Node& node, GemmForm gemm) {
  const IntegerForm& form = node.info().dynamic8;
  const bool is_split = form.kind == IntegerKind::kGemm && gemm == GemmForm::kSplit;
  return form.has_kernel() && !is_split ? &form : nullptr;
}

bool gains_by_dynamic(std::string_view op_type) {
  return std::any_of(ops::rows().begin(), ops::rows().end(), [&](const ops::OpInfo& row) {
    return row.name == op_type && row.dynamic8.has_kernel() && row.dynamic8.kind != IntegerKind::kConv;
  });
}

bool is_fused_wrongly(const onnx::Node& node) {
  return node.op() == Op::kAveragePool && onnx::find_attribute(node, "dilations") != nullptr;
}

bool is_worth_a_reason(const onnx::Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto rule = node.info().weight(i);
    if (rule && *rule != ChannelRule::kTableRow) return true;
  }
  return false;
}

}  // namespace ounce::plan
