// The float tensors of an ONNX model: their uses, and the decisions about them.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/op_rules.h"
#include "kernels/affine.h"
#include "plan/weights/selection.h"
#include "plan/weights/tensor_plan.h"
#include "quant/blocks.h"
#include "quant/dot_product_pairs.h"

namespace ounce::plan {

struct WeightPlace {
  std::size_t initializer = graph::kNone;  // position in the body's graph, or
  std::size_t constant = graph::kNone;     // position of the Constant node
  const onnx::Tensor* tensor = nullptr;
  const graph::Value* value = nullptr;
};

struct Weight : model::WeightSite, WeightPlace {};  // `graph` is the body

std::vector<Weight> find_weights(const graph::Index& index);

// The decision for one tensor, with the fields that only the ONNX emitters use.
struct Decision : TensorPlan {
  WeightPlace place;

  Decision() = default;
  explicit Decision(const Weight& found) : place(found) { weight = found; }

  // Weights and biases (kInt32) of integer ops: the node in the integer plan, and the scales. Scales are
  // found beforehand, because those of a bias depend on the weight's.
  std::size_t integer_node = graph::kNone;
  std::vector<kernels::Affine> affine;
  quant::DotProductPairs pairs;  // for weights whose products must not saturate on any CPU
  std::vector<float> shift;      // bias correction, see integer_weights.h; empty for none
  float limit = 0;               // magnitudes are clipped to this; 0 for no limit
  // 4-bit weights. With kFold: the two values of a byte are neighbors, unpacked by a lookup table of pairs;
  // otherwise they are half a tensor apart, unpacked by shifts. With kDq: values half a tensor apart are
  // unpacked to bytes at load; otherwise the op takes 4-bit types.
  bool uses_pair_table = false, is_split_nibbles = false;
  std::vector<std::int64_t> view;        // the shape of the quantized values when they are scaled,
  std::vector<std::int64_t> scale_dims;  // and the matching shape of the scales
  // kNbits: the rows that the kernels use, with blocks along each row, and the accuracy level.
  quant::BlockRows rows;
  int accuracy_level = 0;
  std::shared_ptr<const std::vector<float>> energy;  // of the input of each column; null if unknown

  bool is_of_integer_op() const { return integer_node != graph::kNone; }
  // For matrices: the axis along which blocks run.
  std::size_t block_axis() const { return layout.has_contiguous_groups() ? 1 : 0; }
};

// Limits quantized biases so that the accumulated sums do not overflow int32.
inline constexpr double kLargestBias = 1 << 30, kLeastBias = -kLargestBias;

// Like the function for TensorPlan, with the layouts of kNbits.
std::uint64_t stored_bytes(const Decision& decision);
// Computes the shapes with which quantized values and scales broadcast in ordinary ops, for the chosen
// groups.
void shape_scales(Decision& decision);

using graph::constant_tensor;
// True if this use is the table of a Gather that picks rows.
bool is_row_lookup(const onnx::Node& node, std::size_t input);

// The recipe's overrides for single nodes (Recipe::nodes), found by node and by weight.
//
//   const NodeOverrides overrides(index, recipe);
//   overrides.require_nodes();
//   if (overrides.wants_floats(node)) …
//   if (const auto wanted = overrides.storage(index, weight)) …   // empty: no override

class NodeOverrides {
 public:
  NodeOverrides() = default;  // no overrides
  NodeOverrides(const graph::Index& index, const Recipe& recipe);

  // Throws Error{kUsage} for a name that is not the output of a node.
  void require_nodes() const;

  std::optional<Format> of(const onnx::Node& node) const;
  // True if the node must not run in INT8.
  bool wants_floats(const onnx::Node& node) const;
  // The most precise override among the nodes that use a weight; nodes without an override count with the
  // format of the recipe. Uses through ops that move the weight count, too.
  std::optional<StorageOverride> storage(const graph::Index& index, const Weight& weight) const;

 private:
  struct Tally;
  void ask_users(const graph::Index& index, const graph::Value& value, Tally& tally) const;

  bool is_integer_ = false;
  Format otherwise_ = Format::kW8;
  std::map<const onnx::Node*, Format> by_node_;
  NamedFormats named_;
};

// Throws Error{kUsage} for a name in NbitsRecipe::levels that is not an output of a MatMul or Gemm.
void require_levels(const graph::Index& index, const Recipe& recipe);

// The texts that Selection matches against patterns.
Selection::Texts texts_of(const graph::Index& index, const Weight& weight);
Selection::Texts texts_of(const onnx::Node& node);

}  // namespace ounce::plan
