// Checks what connects the parts of a model: the flatbuffer says where tables are, and nothing of what they
// mean. After check(), every index is in range, values have the size of their tensors, scales fit the shapes,
// operators run in an order in which everything is made before it is used, and subgraphs do not call
// themselves.
//
// read_model() calls it, and the writer does before it writes an edited model.
#pragma once

#include <string>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// Throws Error{kBadInput}. `name` is how to call the model.
void check(const Model& model, const std::string& name);

}  // namespace ounce::tflite
