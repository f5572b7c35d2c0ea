#include "formats/onnx/plan/op_table.h"

#include <algorithm>
#include <array>

#include "formats/onnx/file/attributes.h"

namespace ounce::plan {
namespace {

using onnx::kContrib;
using enum ChannelRule;

constexpr auto kSlots = std::to_array<WeightSlot>({
    {"", "Conv", 1, kFirst},
    {"", "ConvTranspose", 1, kSecond},
    {"", "DeformConv", 1, kFirst},
    {"", "MatMul", 1, kLast},
    {"", "MatMul", 0, kSecondLast},
    {"", "Gemm", 1, kGemmB},
    {"", "Gemm", 0, kGemmA},
    {"", "LSTM", 1, kRecurrent},
    {"", "LSTM", 2, kRecurrent},
    {"", "GRU", 1, kRecurrent},
    {"", "GRU", 2, kRecurrent},
    {"", "RNN", 1, kRecurrent},
    {"", "RNN", 2, kRecurrent},
    {"", "Gather", 0, kTableRow},
    {"", "Slice", 0, kTableRow},
    {kContrib, "FusedConv", 1, kFirst},
    {kContrib, "FusedMatMul", 1, kGemmB},
    {kContrib, "FusedGemm", 1, kGemmB},
    {kContrib, "Attention", 1, kLast},
});

struct ParameterSlot {
  std::string_view op_type;
  std::size_t input;
};
constexpr auto kParameters = std::to_array<ParameterSlot>({
    {"Conv", 2},
    {"ConvTranspose", 2},
    {"Gemm", 2},
    {"LSTM", 3},
    {"GRU", 3},
    {"RNN", 3},
    {"BatchNormalization", 1},
    {"BatchNormalization", 2},
    {"InstanceNormalization", 1},
    {"InstanceNormalization", 2},
    {"LayerNormalization", 1},
    {"LayerNormalization", 2},
    {"GroupNormalization", 1},
    {"GroupNormalization", 2},
    {"PRelu", 1},
});

struct MovementOp {
  std::string_view op_type;
  bool every_input;  // Concat takes values in all of them, the others in the first
};
constexpr auto kMovements = std::to_array<MovementOp>({
    {"Identity", false},
    {"Transpose", false},
    {"Unsqueeze", false},
    {"Squeeze", false},
    {"Reshape", false},
    {"Flatten", false},
    {"Slice", false},
    {"Split", false},
    {"Concat", true},
});

// Ops with codes in them, and all of QLinear…, of the standard domain or ONNX Runtime's.
struct CodedOp {
  std::string_view op_type;
  bool is_product;  // multiplies integers with the codes of weights; others only decode, look up or code
};
constexpr auto kCodedOps = std::to_array<CodedOp>({
    {"ConvInteger", true},
    {"DynamicQuantizeLSTM", true},
    {"DynamicQuantizeLinear", false},
    {"DynamicQuantizeMatMul", true},
    {"GatherBlockQuantized", false},
    {"MatMulBnb4", false},
    {"MatMulInteger", true},
    {"MatMulInteger16", true},
    {"MatMulIntegerToFloat", true},
    {"MatMulNBits", false},
    {"QAttention", true},
    {"QEmbedLayerNormalization", false},
    {"QGemm", true},
    {"QLinearConv", true},
    {"QLinearMatMul", true},
    {"QMoE", false},
    {"QOrderedAttention", true},
    {"QOrderedGelu", false},
    {"QOrderedLayerNormalization", false},
    {"QOrderedLongformerAttention", true},
    {"QOrderedMatMul", true},
});

const CodedOp* find_coded_op(std::string_view op_type) {
  const auto* const found = std::find_if(kCodedOps.begin(), kCodedOps.end(),
                                         [&](const CodedOp& op) { return op.op_type == op_type; });
  return found == kCodedOps.end() ? nullptr : found;
}

bool same_domain(onnx::Bytes a, onnx::Bytes b) {
  return a == b || (onnx::is_default_domain(a) && onnx::is_default_domain(b));
}

}  // namespace

std::span<const WeightSlot> weight_slots() { return kSlots; }

const WeightSlot* find_weight_slot(const onnx::Node& node, std::size_t input) {
  for (const WeightSlot& slot : kSlots) {
    if (slot.input == input && slot.op_type == node.op_type() && same_domain(slot.domain, node.domain()))
      return &slot;
  }
  return nullptr;
}

std::size_t kernel_taps(ChannelRule rule, std::span<const std::int64_t> dims) {
  std::size_t taps = 1;
  if (rule != kFirst && rule != kSecond) return taps;
  for (std::size_t i = 2; i < dims.size(); ++i) taps *= static_cast<std::size_t>(dims[i]);
  return taps;
}

bool is_parameter(const onnx::Node& node, std::size_t input) {
  if (!onnx::is_default_domain(node.domain())) return false;
  return std::any_of(kParameters.begin(), kParameters.end(), [&](const ParameterSlot& slot) {
    return slot.op_type == node.op_type() && slot.input == input;
  });
}

bool is_movement(const onnx::Node& node, std::size_t input) {
  if (!onnx::is_default_domain(node.domain())) return false;
  return std::any_of(kMovements.begin(), kMovements.end(), [&](const MovementOp& op) {
    return op.op_type == node.op_type() && (op.every_input || input == 0);
  });
}

bool is_integer_op(const onnx::Node& node) {
  constexpr std::string_view kOptimized = "com.ms.internal.nhwc";  // of models that the runtime has saved
  if (!onnx::is_default_domain(node.domain()) && node.domain() != kContrib && node.domain() != kOptimized)
    return false;
  return node.op_type().starts_with("QLinear") || find_coded_op(node.op_type()) != nullptr;
}

bool is_integer_product(std::string_view op_type) {
  const CodedOp* const op = find_coded_op(op_type);
  return op != nullptr && op->is_product;
}

bool is_quantized_op(const onnx::Node& node) {
  return node.op() == Op::kQuantizeLinear || node.op() == Op::kDequantizeLinear || is_integer_op(node);
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
  const onnx::Bytes op = movement.op_type();
  if (op == "Reshape" || op == "Flatten") return std::nullopt;
  if (op == "Transpose") {
    if (axes.last - axes.first != 1) return std::nullopt;
    const auto permutation = onnx::integers_attribute(movement, "perm");
    std::size_t axis = input_rank - 1 - axes.first;  // without perm the axes are reversed
    if (permutation && !permutation->empty()) {
      if (axes.first >= permutation->size()) return std::nullopt;
      axis = static_cast<std::size_t>((*permutation)[axes.first]);
    }
    return axis < input_rank ? std::optional(ChannelAxes{axis, axis + 1}) : std::nullopt;
  }
  // In front of a weight, Unsqueeze and Squeeze add and drop the leading axis (a direction, a batch). If a
  // model does otherwise, groups are cut along another axis: still right, a little less exact.
  if (op == "Unsqueeze") {
    if (axes.last < 2) return std::nullopt;
    return ChannelAxes{axes.first == 0 ? 0 : axes.first - 1, axes.last - 1};
  }
  if (op == "Squeeze") return ChannelAxes{axes.first + 1, axes.last + 1};
  return axes.last <= input_rank ? std::optional(axes) : std::nullopt;
}

}  // namespace ounce::plan
