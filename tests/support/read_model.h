// Test support: reads the model that a builder has made.
#pragma once

#include <string>

#include "formats/onnx/file/reader.h"

namespace ounce::test {

inline onnx::Model read(const std::string& bytes) { return onnx::read_model_from_memory(bytes, "test"); }

}  // namespace ounce::test
