// A node that multiplies with a constant weight and adds a constant bias, so that a factor and an offset for
// each of its output channels can be put into them:
//
//   s · (w·x + b) + t  =  (s·w)·x + (s·b + t)
//
//   op              weight                      channel of a weight's value
//   Conv            [M, C/group, k…]            its first axis
//   ConvTranspose   [C, M/group, k…]            its second axis, counted on from group to group of the first
//   Gemm            [K, N], transB: [N, K]      the axis N; alpha stays, beta is put into the bias
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {

// y = scale·x + shift, channel by channel.
struct Affine {
  std::vector<double> scale, shift;

  // First this, then `next`.
  void append(const Affine& next);
};

bool is_linear_op(const onnx::Node& node);
inline constexpr std::size_t kWeightInput = 1, kBiasInput = 2;  // of all three

struct LinearOp {
  std::size_t body = 0, position = 0;
  Constant weight;
  std::optional<Constant> bias;
  std::size_t channels = 0;
  double beta = 1;  // the bias's factor

  // Value i of the weight belongs to channel
  //   (i / inner / per_group / rows_per_group) · per_group + (i / inner) mod per_group
  std::size_t inner = 1, per_group = 1, rows_per_group = 1;

  std::size_t rank() const { return weight.tensor->dims.size(); }  // of the output as of the weight
  // What new parameters add to the model at most.
  std::uint64_t added_weight_bytes() const;
  std::uint64_t bias_bytes() const { return channels * sizeof(float); }
};

// For a node that is_linear_op().
std::variant<LinearOp, Reason> read_linear_op(const onnx::Model& model, const graph::Index& index,
                                              std::size_t body, std::size_t position);

// The new weight and bias, in float64 and rounded once; a reason when they do not fit into float32.
struct NewParameters {
  std::vector<float> weight, bias;
};
std::variant<NewParameters, Reason> apply(const LinearOp& op, const Affine& affine);
std::vector<float> new_bias(const LinearOp& op, const Affine& affine);

// Puts them into the node and has it make `output`. The weight is left alone when `weight` is empty.
void put_parameters(Editors& editors, const graph::Index& index, const LinearOp& op,
                    const NewParameters& parameters, Bytes output);

}  // namespace ounce::passes
