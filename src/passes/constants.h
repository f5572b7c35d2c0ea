// New values for the constants that nodes take (graph/constants.h finds them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/constants.h"
#include "graph/index.h"
#include "onnx/model.h"
#include "passes/body_editor.h"

namespace ounce::passes {

using graph::Constant;
using graph::find_constant;
using graph::input_of;
using graph::opset_of;

std::size_t count_of(std::span<const std::int64_t> dims);  // values of a tensor that has them
std::vector<float> floats_of(const onnx::Tensor& tensor);  // of type float32
bool are_finite(std::span<const float> values);
onnx::Tensor float_tensor(std::vector<std::int64_t> dims, std::span<const float> values);

// Gives the node at `place` new values for a constant and returns their name. Where the old constant is the
// node's alone it keeps its name, otherwise it stays for the others and the new one gets a name of its own.
Bytes put_constant(BodyEditor& editor, std::size_t body, std::size_t place,
                   const std::optional<Constant>& old, Bytes old_name, onnx::Tensor tensor);

// "node 'conv1'", with the subgraph or function it stands in.
std::string place_of(const graph::Index& index, std::size_t body, std::size_t position);

}  // namespace ounce::passes
