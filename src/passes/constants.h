// The constants that nodes take: tensors known before the model runs, wherever they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/index.h"
#include "onnx/model.h"
#include "passes/body_editor.h"

namespace ounce::passes {

struct Constant {
  const onnx::Tensor* tensor = nullptr;
  const graph::Value* value = nullptr;
  std::size_t body = graph::kNone;  // that defines it

  bool is_shared() const { return value->uses.size() > 1 || value->is_output; }
};

// Nothing when `name` is empty or is computed, or when it may get another value: from IR 4 on an initializer
// that is listed as an input is only a default, and training graphs change initializers.
std::optional<Constant> find_constant(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                      Bytes name);

// The optional input of a node; empty where it is left out.
Bytes input_of(const onnx::Node& node, std::size_t input);

std::vector<float> floats_of(const onnx::Tensor& tensor);  // of type float32
onnx::Tensor float_tensor(std::vector<std::int64_t> dims, std::span<const float> values);

// Gives the node at `place` new values for a constant and returns their name. Where the old constant is the
// node's alone it keeps its name, otherwise it stays for the others and the new one gets a name of its own.
Bytes put_constant(BodyEditor& editor, std::size_t body, std::size_t place,
                   const std::optional<Constant>& old, Bytes old_name, onnx::Tensor tensor);

// The version of ONNX's own ops in a body: functions have imports of their own.
std::int64_t opset_of(const onnx::Model& model, const graph::Index& index, std::size_t body);

// "node 'conv1'", with the subgraph or function it stands in.
std::string place_of(const graph::Index& index, std::size_t body, std::size_t position);

}  // namespace ounce::passes
