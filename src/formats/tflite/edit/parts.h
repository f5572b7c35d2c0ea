// Adds parts to a model: buffers, tensors, operators with their codes. Indices of what is there stay valid.
//
//   const std::int32_t y = tflite::add_tensor(graph, tensor);
//   graph.operators.push_back(op);
//   tflite::set_versions(model);     // at the end: codes with the versions that the types need
#pragma once

#include <cstdint>

#include "formats/tflite/file/model.h"
#include "formats/tflite/file/ops.h"

namespace ounce::tflite {

std::uint32_t add_buffer(Model& model, Data data);
std::int32_t add_tensor(SubGraph& graph, Tensor tensor);
// The index of a code, which is added if the model does not have it.
std::uint32_t operator_code(Model& model, Builtin code, std::int32_t version = 1);

// Gives every operator a code of the version that its tensors need (file/versions.h), or a later one if the
// file says so, and removes the codes that no operator has.
void set_versions(Model& model);

// Takes away the values of buffers that no tensor and no metadata use. Buffers keep their numbers.
void empty_unused_buffers(Model& model);

}  // namespace ounce::tflite
