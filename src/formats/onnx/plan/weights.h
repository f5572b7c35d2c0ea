// The float tensors of an ONNX model, wherever they stand: what each is used for, and what is done with it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/op_rules.h"
#include "kernels/affine.h"
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

}  // namespace ounce::plan
