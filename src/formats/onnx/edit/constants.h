// Replaces constants that nodes take as inputs (formats/onnx/graph/index.h finds them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {

using graph::Constant;
using graph::find_constant;
using graph::input_of;
using graph::opset_of;

std::size_t count_of(std::span<const std::int64_t> dims);  // the number of elements
std::vector<float> floats_of(const onnx::Tensor& tensor);  // for tensors of type float32
bool are_finite(std::span<const float> values);
onnx::Tensor float_tensor(std::vector<std::int64_t> dims, std::span<const float> values);

// Gives the node at `place` a new constant and returns its name. If no other node uses the old constant, the
// new one takes its name. Otherwise the old constant is kept and the new one gets a fresh name.
Bytes put_constant(BodyEditor& editor, std::size_t body, std::size_t place,
                   const std::optional<Constant>& old, Bytes old_name, onnx::Tensor tensor);

// A label for messages: "node 'conv1'", with the subgraph or function that contains it.
std::string place_of(const graph::Index& index, std::size_t body, std::size_t position);

// Expands the shorthand forms of constants into tensors, the only form that the other passes read.
//
//   Constant(value_float=1e-8)     becomes     Constant(value=float32 1e-8)
//   ConstantOfShape()              becomes     ConstantOfShape(value=float32[1] 0)

// Handles float32 in all bodies, functions included. Returns the number of changed nodes.
std::size_t expand_constants(onnx::Model& model);

// Removes initializers from the list of inputs.
//
//   inputs x, w; initializer w     becomes     inputs x; initializer w
//
// From IR 4 on, an initializer that is also listed as an input is a default value that the caller may
// replace, so runtimes cannot fold or prepack it and Ounce cannot compress it. Old exporters list every
// weight without intending this. (Before IR 4 initializers must be listed, so such lists are kept.)

// The names of the initializers that are listed as inputs, in the order of the list.
std::vector<std::string> listed_constants(const onnx::Model& model);

void remove_initializer_inputs(onnx::Model& model);

// A note for the user about these inputs; empty if there are none.
std::string sentence_of_unlisted(const std::vector<std::string>& names);

}  // namespace ounce::passes
