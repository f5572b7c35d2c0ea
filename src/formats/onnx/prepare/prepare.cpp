#include "formats/onnx/prepare/prepare.h"

#include <algorithm>
#include <iterator>

#include "formats/onnx/plan/weights.h"
#include "formats/onnx/prepare/fold_weights.h"
#include "formats/onnx/prepare/integer_rewrites.h"
#include "formats/onnx/prepare/raise_opset.h"
#include "formats/onnx/prepare/remove_nodes.h"
#include "recipe/format_info.h"

namespace ounce::passes {
namespace {

constexpr std::int64_t kDynamicOpset = 11;  // DynamicQuantizeLinear
constexpr std::int64_t kChannelOpset = 13;  // DequantizeLinear with an axis; older models are raised to it
constexpr std::int64_t kWideOpset = 21;     // DequantizeLinear with 16-bit and 4-bit types

std::int64_t opset_for(const Recipe& recipe) {
  if (is_dynamic(recipe.format)) return kChannelOpset;
  bool is_wide = is_16_bit(recipe.integer.activations) || recipe.integer.weights == WeightType::kS4;
  for (const auto& [name, value] : recipe.integer.values)
    is_wide = is_wide || (value.type && is_16_bit(*value.type));
  return is_wide ? kWideOpset : kChannelOpset;
}

// Nodes that are overridden to FP32 are not split, so they keep the name that the recipe uses.
Changes split_gemms(onnx::Model& model, const Recipe& recipe) {
  const graph::Index index(model);
  const plan::NodeOverrides overrides(index, recipe);
  return gemm_to_matmul(model, [&](const onnx::Node& node) { return !overrides.wants_floats(node); });
}

using Reasons = std::vector<std::string>;

void add(Reasons& reasons, Changes changes) {
  std::move(changes.left_alone.begin(), changes.left_alone.end(), std::back_inserter(reasons));
}

// Rewrites ops without integer kernels as ops that have one.
void make_of_integer_ops(onnx::Model& model, const Recipe& recipe, Reasons& left_alone) {
  const auto is_made = [&](Rewrite rewrite) { return !recipe.integer.skip_rewrites.contains(rewrite); };
  division_to_product(model);
  if (is_made(Rewrite::kMean)) mean_to_pool(model);
  if (is_made(Rewrite::kHardSwish)) add(left_alone, rewrite_hard_swish(model));
  if (is_made(Rewrite::kTanh)) tanh_to_sigmoid(model);
  if (is_made(Rewrite::kConvTranspose)) {
    const graph::Index index(model);
    const plan::NodeOverrides overrides(index, recipe);
    add(left_alone,
        conv_transpose_to_conv(model, [&](const onnx::Node& node) { return !overrides.wants_floats(node); }));
  }
  if (is_made(Rewrite::kPadChannels)) pad_channels(model);
}

}  // namespace

std::vector<std::string> prepare(onnx::Model& model, const Recipe& recipe) {
  Reasons left_alone;
  const bool is_new_enough =
      is_dynamic(recipe.format) && onnx::opset_version(model.proto->opset_imports, "") >= kDynamicOpset;
  if (!is_new_enough) raise_opset(model, opset_for(recipe));
  remove_identity(model);
  fold_constants(model);
  add_bias(model);
  add(left_alone, fold_batch_norm(model));
  add_bias(model);
  if (is_static(recipe.format)) unshare_biases(model);
  if (is_static(recipe.format)) make_of_integer_ops(model, recipe, left_alone);
  if (is_dynamic(recipe.format)) add(left_alone, split_gemms(model, recipe));
  remove_dead_nodes(model);
  return left_alone;
}

}  // namespace ounce::passes
