// Asks the runtime for the types of values that the file does not tell: those behind sequences, and behind
// ops that nobody here knows.
#pragma once

#include <ounce/runtime.h>

#include "onnx/model.h"

namespace ounce::make {

// Declares the types of values of the main graph that graph::ElementTypes does not know, as far as the
// runtime does. Returns how many; none when the model does not load.
std::size_t declare_asked_types(onnx::Model& model, const RuntimeOptions& options);

}  // namespace ounce::make
