// The constants that nodes take: tensors known before the model runs, wherever they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "graph/index.h"
#include "onnx/model.h"

namespace ounce::graph {

// The tensor of a Constant node; null for its other forms, and for other nodes.
const onnx::Tensor* constant_tensor(const onnx::Node& node);

struct Constant {
  const onnx::Tensor* tensor = nullptr;
  const Value* value = nullptr;
  std::size_t body = kNone;  // that defines it

  bool is_shared() const { return value->uses.size() > 1 || value->is_output; }
};

// Nothing when `name` is empty or is computed, or when it may get another value: from IR 4 on an initializer
// that is listed as an input is only a default, and training graphs change initializers.
std::optional<Constant> find_constant(const onnx::Model& model, const Index& index, std::size_t body,
                                      Bytes name);

// The optional input of a node; empty where it is left out.
Bytes input_of(const onnx::Node& node, std::size_t input);

// The version of ONNX's own ops in a body: functions have imports of their own.
std::int64_t opset_of(const onnx::Model& model, const Index& index, std::size_t body);

}  // namespace ounce::graph
