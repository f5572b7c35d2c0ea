// The float tensors of an ONNX model, wherever they stand: what each is used for, and what is done with it.
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
  std::size_t initializer = graph::kNone;  // its place in the body's graph …
  std::size_t constant = graph::kNone;     // … or the Constant node that holds it
  const onnx::Tensor* tensor = nullptr;
  const graph::Value* value = nullptr;
};

struct Weight : model::WeightSite, WeightPlace {};  // `graph` is the body

std::vector<Weight> find_weights(const graph::Index& index);

// What is done with one tensor, with what only the emitters for ONNX read.
struct Decision : TensorPlan {
  WeightPlace place;

  Decision() = default;
  explicit Decision(const Weight& found) : place(found) { weight = found; }

  // Weights and biases (kInt32) of integer ops: their node in the integer plan, and their scales, which are
  // found beforehand, as those of a bias are made of the weight's.
  std::size_t integer_node = graph::kNone;
  std::vector<kernels::Affine> affine;
  quant::DotProductPairs pairs;  // of weights whose products must not saturate on any CPU
  std::vector<float> shift;      // added to a bias, see integer_weights.h; empty for none
  float limit = 0;               // of magnitudes: values beyond it become it; 0 for none
  // Of 4 bits. kFold: the two values of a byte are neighbours and come out of a table of pairs, otherwise
  // they are half a tensor apart and are shifted out. kDq: such halves become bytes at load, otherwise the op
  // takes 4-bit types.
  bool uses_pair_table = false, is_split_nibbles = false;
  std::vector<std::int64_t> view;        // the shape in which the codes are scaled …
  std::vector<std::int64_t> scale_dims;  // … and the shape of the scales that fits it
  // kNbits: the rows that the kernels see, where blocks run along each row, and their level of accuracy.
  quant::BlockRows rows;
  int accuracy_level = 0;
  std::shared_ptr<const std::vector<float>> energy;  // of the input of each column; null: all alike

  bool is_of_integer_op() const { return integer_node != graph::kNone; }
  // Of a matrix: the axis that blocks run along.
  std::size_t block_axis() const { return layout.has_contiguous_groups() ? 1 : 0; }
};

// Codes of a bias leave room for the sums that are added to it.
inline constexpr double kLargestBias = 1 << 30, kLeastBias = -kLargestBias;

// As of TensorPlan, with the layouts of kNbits.
std::uint64_t stored_bytes(const Decision& decision);
// The shapes of ordinary ops on codes and scales, which broadcast: for the groups that were chosen.
void shape_scales(Decision& decision);

using graph::constant_tensor;
// Is this use the table of a Gather that picks rows?
bool is_row_lookup(const onnx::Node& node, std::size_t input);

// What a recipe says of single nodes (Recipe::nodes), looked up by node and by weight.
//
//   const NodeOverrides overrides(index, recipe);
//   overrides.require_nodes();
//   if (overrides.wants_floats(node)) …
//   if (const auto wanted = overrides.storage(index, weight)) …   // nothing: the recipe itself decides

class NodeOverrides {
 public:
  NodeOverrides() = default;  // nobody overrides anything
  NodeOverrides(const graph::Index& index, const Recipe& recipe);

  // Throws Error{kUsage} for a name that no node gives.
  void require_nodes() const;

  std::optional<Format> of(const onnx::Node& node) const;
  // It is not to compute on integers.
  bool wants_floats(const onnx::Node& node) const;
  // The most precise of what the nodes of a weight wanted; those that nobody spoke of wanted what the recipe
  // says. A node takes a weight, too, when other ops move it on the way.
  std::optional<StorageOverride> storage(const graph::Index& index, const Weight& weight) const;

 private:
  struct Tally;
  void ask_users(const graph::Index& index, const graph::Value& value, Tally& tally) const;

  bool is_integer_ = false;
  Format otherwise_ = Format::kW8;
  std::map<const onnx::Node*, Format> by_node_;
  NamedFormats named_;
};

// Throws Error{kUsage} for a name in NbitsRecipe::levels that is no value of a MatMul or Gemm.
void require_levels(const graph::Index& index, const Recipe& recipe);

// What Selection looks for.
Selection::Texts texts_of(const graph::Index& index, const Weight& weight);
Selection::Texts texts_of(const onnx::Node& node);

}  // namespace ounce::plan
