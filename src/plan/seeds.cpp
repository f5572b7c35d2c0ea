#include "plan/seeds.h"

#include <fmt/format.h>

namespace ounce::plan {

std::string why_not_weight(const graph::Index& index, const onnx::Node& node, const Weight* weight) {
  if (weight == nullptr) return "its weight is computed while the model runs";
  if (weight->tensor->type != onnx::ElementType::kFloat) return "its weight is not float32";
  if (weight->tensor->element_count() == 0) return "its weight is empty";
  if (weight->value->is_output) return "its weight is an output of the graph";
  for (const Use& use : weight->value->uses) {
    const onnx::Node& other = index.node(use);
    const bool is_alike = other.op_type == node.op_type && onnx::is_default_domain(other.domain) &&
                          use.input == 1 &&
                          integer_setting(other, "transB", 0) == integer_setting(node, "transB", 0);
    if (!is_alike) return fmt::format("its weight also feeds {}", other.op_type);
  }
  return {};
}

std::string why_not_bias(const onnx::Node& node, const Weight* bias, std::size_t channels) {
  if (input_of(node, 2).empty()) return {};
  if (bias == nullptr) return "its bias is computed while the model runs";
  const bool fits = bias->tensor->type == onnx::ElementType::kFloat && bias->tensor->dims.size() == 1 &&
                    bias->tensor->element_count() == channels;
  if (!fits) return "its bias is not one float32 for each channel";
  if (bias->value->uses.size() != 1 || bias->value->is_output) return "its bias is used elsewhere too";
  return {};
}

std::string why_not_shape(const onnx::Node& node, const Weight& weight) {
  const std::size_t rank = weight.tensor->dims.size();
  if (node.op_type == "Conv") return rank >= 3 ? "" : "its weight is no kernel";
  if (rank != 2) return "its weight is not a matrix";
  if (node.op_type == "MatMul") return {};
  if (integer_setting(node, "transA", 0) != 0) return "its left side is transposed";
  const auto transposed = integer_setting(node, "transB", 0);
  if (!transposed || *transposed < 0 || *transposed > 1) return "its transB is not known here";
  const bool has_bias = !input_of(node, 2).empty();
  const bool is_plain =
      float_setting(node, "alpha", 1) == 1.0F && (!has_bias || float_setting(node, "beta", 1) == 1.0F);
  return is_plain ? "" : "its alpha or beta is not 1";
}

}  // namespace ounce::plan
