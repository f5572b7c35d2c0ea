// Finds the float tensors of a model, wherever they stand, and what each is used for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::plan {

// What a float tensor is for, the strongest of its uses.
enum class Role {
  kOther,
  kParameter,  // a bias, or a scale or bias of a normalisation: 16 bits are enough
  kTable,      // rows are cut out of it
  kWeight,     // multiplied with: 8 bits are enough
};

struct Weight {
  std::size_t body = 0;
  std::size_t initializer = graph::kNone;  // its place in the body's graph …
  std::size_t constant = graph::kNone;     // … or the Constant node that holds it
  onnx::Bytes name;                        // of the value
  const onnx::Tensor* tensor = nullptr;
  const graph::Value* value = nullptr;

  Role role = Role::kOther;             // found by following it through movement ops
  std::size_t kernel_taps = 1;          // of a convolution
  std::optional<ChannelAxes> channels;  // of this tensor, for the op it feeds
  Op op = Op::kUnknown;                 // that it feeds …
  std::string op_type;                  // … and its name in the file
  bool is_looked_up = false;            // every use is the table of a Gather on axis 0
  bool is_moved = false;                // some use is a movement op
  bool feeds_quantized_op = false;

  bool fits_nbits() const { return role == Role::kWeight || role == Role::kTable; }
};

std::vector<Weight> find_weights(const graph::Index& index);

using graph::constant_tensor;
// Is this use the table of a Gather that picks rows?
bool is_row_lookup(const onnx::Node& node, std::size_t input);

}  // namespace ounce::plan
