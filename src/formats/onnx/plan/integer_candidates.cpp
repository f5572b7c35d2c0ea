#include "formats/onnx/plan/integer_candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::plan {
namespace {

// Whether a use is the second input of an op in ONNX's own domain, and whether the op transposes it.
struct WeightUse {
  bool is_weight = false;
  Bytes op_type;
  std::optional<std::int64_t> transposed;

  bool operator==(const WeightUse&) const = default;
};

WeightUse weight_use(const graph::Index& index, const Use& use) {
  const onnx::Node& node = index.node(use);
  const bool is_weight = use.input == 1 && onnx::is_default_domain(node.domain());
  return {is_weight, node.op_type(), integer_setting(node, "transB", 0)};
}

}  // namespace

WeightUsers::WeightUsers(const graph::Index& index, const Weight& weight) {
  const std::vector<Use>& uses = weight.value->uses;
  if (uses.empty()) return;
  first_ = &uses.front();
  const WeightUse first = weight_use(index, *first_);
  const auto other =
      std::find_if(uses.begin(), uses.end(), [&](const Use& use) { return weight_use(index, use) != first; });
  if (other != uses.end()) other_ = &*other;
}

const Use* WeightUsers::first_unlike(const graph::Index& index, const onnx::Node& node) const {
  if (first_ == nullptr) return nullptr;
  const WeightUse own{true, node.op_type(), integer_setting(node, "transB", 0)};
  return weight_use(index, *first_) == own ? other_ : first_;
}

std::string why_not_weight(const graph::Index& index, const onnx::Node& node, const Weight& weight,
                           const WeightUsers& users) {
  if (weight.tensor->type != ElementType::kFloat) return "its weight is not float32";
  if (weight.tensor->element_count() == 0) return "its weight is empty";
  if (weight.value->is_output) return "its weight is an output of the graph";
  const Use* other = users.first_unlike(index, node);
  return other == nullptr ? "" : fmt::format("its weight also feeds {}", index.node(*other).op_type());
}

std::string why_not_bias(const onnx::Node& node, const Weight* bias, std::size_t channels) {
  if (input_of(node, 2).empty()) return {};
  if (bias == nullptr) return "its bias is not constant";
  const bool fits = bias->tensor->type == ElementType::kFloat && bias->tensor->dims.size() == 1 &&
                    bias->tensor->element_count() == channels;
  if (!fits) return "its bias is not one float32 value per channel";
  if (bias->value->uses.size() != 1 || bias->value->is_output) return "its bias is used elsewhere too";
  return {};
}

std::string why_not_shape(const onnx::Node& node, const Weight& weight) {
  const std::size_t rank = weight.tensor->dims.size();
  if (node.op() == Op::kConv) return rank >= 3 ? "" : "its weight is not a convolution kernel";
  if (rank != 2) return "its weight is not a matrix";
  if (node.op() == Op::kMatMul) return {};
  if (integer_setting(node, "transA", 0) != 0) return "its left input is transposed (transA)";
  const auto transposed = integer_setting(node, "transB", 0);
  if (!transposed || *transposed < 0 || *transposed > 1) return "its transB cannot be read";
  const bool has_bias = !input_of(node, 2).empty();
  const bool is_plain =
      float_setting(node, "alpha", 1) == 1.0F && (!has_bias || float_setting(node, "beta", 1) == 1.0F);
  return is_plain ? "" : "its alpha or beta is not 1";
}

namespace {

using graph::kNone;
using onnx::Bytes;

constexpr std::size_t kMostScaleUses = 16;
constexpr int kLongestScale = 4;  // nodes that compute a scale

bool leads_to_scale(const graph::Index& index, std::size_t body, const onnx::Node& node, int steps) {
  const graph::Value* value = node.outputs.size() == 1 ? index.find(body, node.outputs[0]).value : nullptr;
  if (value == nullptr || value->is_output || value->uses.empty() || steps == 0) return false;
  if (value->uses.size() > kMostScaleUses) return false;
  return std::all_of(value->uses.begin(), value->uses.end(), [&](const graph::Use& use) {
    const onnx::Node& next = index.node(use);
    return next.info().is_quantized_or_converts() ? use.input != 0
                                                  : leads_to_scale(index, use.body, next, steps - 1);
  });
}

}  // namespace

bool is_between_codes(const graph::Index& index, std::size_t body, const onnx::Node& node) {
  const auto is_decoded = [&](Bytes name) {
    const auto [value, home] = index.find(body, name);
    return value != nullptr && value->producer != kNone &&
           index.bodies()[home].nodes()[value->producer]->op() == Op::kDequantizeLinear;
  };
  const auto is_coded = [&](Bytes name) {
    const graph::Value* value = index.find(body, name).value;
    return value != nullptr && !value->uses.empty() && !value->is_output &&
           std::all_of(value->uses.begin(), value->uses.end(),
                       [&](const graph::Use& use) { return index.node(use).op() == Op::kQuantizeLinear; });
  };
  const IntegerForm* op = find_static_form(node);
  const std::size_t wanted =
      op == nullptr ? 0 : op->activations(node.inputs.size()) + (op->has_weight() ? 1 : 0);
  const bool takes_codes =
      op != nullptr && node.inputs.size() >= wanted &&
      std::all_of(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(wanted), is_decoded);
  const bool gives_codes = !node.outputs.empty() && is_coded(node.outputs[0]);
  return (gives_codes && node.info().is_clamp()) || takes_codes;
}

bool makes_scale(const graph::Index& index, std::size_t body, const onnx::Node& node) {
  return leads_to_scale(index, body, node, kLongestScale);
}

}  // namespace ounce::plan
