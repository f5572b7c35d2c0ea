// New values for the constants that nodes take (formats/onnx/graph/index.h finds them).
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

// Expands the shorthand forms of constants into tensors, the only form that other passes read.
//
//   Constant(value_float=1e-8)     becomes     Constant(value=float32 1e-8)
//   ConstantOfShape()              becomes     ConstantOfShape(value=float32[1] 0)

// For float32, at every depth, functions included. Returns the number of changed nodes.
std::size_t expand_constants(onnx::Model& model);

// Removes initializers from the list of inputs.
//
//   inputs x, w; initializer w     becomes     inputs x; initializer w
//
// From IR 4 on an initializer that is listed as an input is a default value, which a caller may replace: a
// runtime neither folds it nor packs it, and nobody may store it in another way. Old exporters list every
// weight, and mean none of that. (Before IR 4 the list is a matter of form, and stays.)

// Their names, in the order of the list.
std::vector<std::string> listed_constants(const onnx::Model& model);

void remove_initializer_inputs(onnx::Model& model);

// What to say of them; empty when there are none.
std::string sentence_of_unlisted(const std::vector<std::string>& names);

}  // namespace ounce::passes
