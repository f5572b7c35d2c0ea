// A node with a constant weight and an optional constant bias, into which a factor and an offset for each
// output channel can be folded:
//
//   s · (w·x + b) + t  =  (s·w)·x + (s·b + t)
//
//   op              weight                      channel of a weight value
//   Conv            [M, C/group, k…]            first axis
//   ConvTranspose   [C, M/group, k…]            second axis, plus an offset for the group of the first axis
//   Gemm            [K, N], transB: [N, K]      axis N; alpha is kept, beta is folded into the bias
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

// y = scale·x + shift for each channel.
struct Affine {
  std::vector<double> scale, shift;

  // Composes the two: applies this one first, then `next`.
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

  std::size_t rank() const { return weight.tensor->dims.size(); }  // of the output, which equals the weight's
  // Upper bound of the bytes that new parameters add to the model.
  std::uint64_t added_weight_bytes() const;
  std::uint64_t bias_bytes() const { return channels * sizeof(float); }
};

// Precondition: is_linear_op(node).
std::variant<LinearOp, Reason> read_linear_op(const onnx::Model& model, const graph::Index& index,
                                              std::size_t body, std::size_t position);

// The new weight and bias, computed in float64 and rounded once to float32; a Reason if they overflow
// float32.
struct NewParameters {
  std::vector<float> weight, bias;
};
std::variant<NewParameters, Reason> apply(const LinearOp& op, const Affine& affine);
std::vector<float> new_bias(const LinearOp& op, const Affine& affine);

// Replaces the node's parameters and names its output `output`. An empty `weight` keeps the old weight.
void put_parameters(Editors& editors, const graph::Index& index, const LinearOp& op,
                    const NewParameters& parameters, Bytes output);

}  // namespace ounce::passes
