#include "formats/onnx/plan/integer_ops.h"

#include <algorithm>
#include <array>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/dynamic_planner.h"
#include "formats/onnx/plan/op_table.h"

namespace ounce::plan {
namespace {

using onnx::kContrib;
using enum IntegerKind;

// Found by loading models in the runtime and looking at what it made of them (bench/static_fusions.py). Not
// here, as Q/DQ around them only cost time: ConvTranspose, normalisations, HardSwish, HardSigmoid, the parts
// of GELU; and Softmax, whose inputs may be masked with huge values.
constexpr auto kStaticOps = std::to_array<IntegerOp>({
    {"Conv", kConv, "QLinearConv", ""},
    {"Gemm", kGemm, "QGemm", kContrib},
    {"MatMul", kMatMul, "MatMulIntegerToFloat", kContrib},
    {"Add", kJoin, "QLinearAdd", kContrib},
    {"Mul", kJoin, "QLinearMul", kContrib},
    {"Concat", kJoin, "QLinearConcat", kContrib},
    {"AveragePool", kMap, "QLinearAveragePool", kContrib},
    {"GlobalAveragePool", kMap, "QLinearGlobalAveragePool", kContrib},
    {"LeakyRelu", kMap, "QLinearLeakyRelu", kContrib},
    {"Sigmoid", kMap, "QLinearSigmoid", kContrib},
    {"Flatten", kMovement, "Flatten", ""},
    {"MaxPool", kMovement, "MaxPool", ""},
    {"Reshape", kMovement, "Reshape", ""},
    {"Resize", kMovement, "Resize", ""},  // to the nearest
    {"Slice", kMovement, "Slice", ""},
    {"Squeeze", kMovement, "Squeeze", ""},
    {"Transpose", kMovement, "Transpose", ""},
    {"Unsqueeze", kMovement, "Unsqueeze", ""},
});

constexpr auto kDynamicOps = std::to_array<IntegerOp>({
    {"Conv", kConv, "ConvInteger", ""},
    {"MatMul", kMatMul, "MatMulInteger", ""},
    {"LSTM", kLstm, "DynamicQuantizeLSTM", kContrib},
});
constexpr IntegerOp kFusedAttention{"Attention", kAttention, "QAttention", kContrib};
constexpr std::array kWholeGemm = {IntegerOp{"Gemm", kGemm, "MatMulInteger", ""}};

// A Resize that makes values which were not there.
bool is_blend(const onnx::Node& node) {
  return node.op() == Op::kResize && onnx::string_setting(node, "mode", "nearest") != "nearest";
}

template <class Ops>
const IntegerOp* find(const Ops& ops, const onnx::Node& node) {
  if (!onnx::is_default_domain(node.domain())) return nullptr;
  const auto found =
      std::find_if(ops.begin(), ops.end(), [&](const IntegerOp& op) { return op.op_type == node.op_type(); });
  return found == ops.end() ? nullptr : &*found;
}

}  // namespace

const IntegerOp* find_dynamic_op(const onnx::Node& node, GemmForm gemm) {
  if (is_fused_attention(node)) return &kFusedAttention;
  const IntegerOp* op = find(kDynamicOps, node);
  return op == nullptr && gemm == GemmForm::kWhole ? find(kWholeGemm, node) : op;
}

bool gains_by_dynamic(std::string_view op_type) {
  const auto is_it = [&](const IntegerOp& op) { return op.kind != kConv && op.op_type == op_type; };
  return std::any_of(kDynamicOps.begin(), kDynamicOps.end(), is_it) ||
         std::any_of(kWholeGemm.begin(), kWholeGemm.end(), is_it) || is_it(kFusedAttention);
}

const IntegerOp* find_integer_op(const onnx::Node& node) {
  return is_fused_wrongly(node) || is_blend(node) ? nullptr : find(kStaticOps, node);
}

bool is_fused_wrongly(const onnx::Node& node) {
  return onnx::is_default_domain(node.domain()) && node.op() == Op::kAveragePool &&
         onnx::find_attribute(node, "dilations") != nullptr;
}

bool is_clamp(const onnx::Node& node) {
  return onnx::is_default_domain(node.domain()) && (node.op() == Op::kRelu || node.op() == Op::kClip);
}

bool is_worth_a_reason(const onnx::Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const WeightSlot* slot = find_weight_slot(node, i);
    if (slot != nullptr && slot->rule != ChannelRule::kTableRow) return true;
  }
  return false;
}

}  // namespace ounce::plan
