// Checks the TFLite reader and writer with arbitrary bytes: they must be rejected with Error{kBadInput}, or
// be a model whose values can be read and whose content is preserved when it is written, with buffers inside
// or after the flatbuffer.
#pragma once

#include <string>

namespace ounce::test {

// Returns whether the bytes are a model. Throws BrokenPromise (promise.h), and any unexpected exception.
bool check_tflite(const std::string& bytes);

// Checks quantization without running models. The first byte selects a recipe, the rest is a model. It must
// be rejected, or planned and written, and the result must be readable and agree with the plan.
void check_tflite_quantize(const std::string& bytes);

}  // namespace ounce::test
