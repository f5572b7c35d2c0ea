// What must hold for any bytes at all: they are refused with Error{kBadInput}, or they are a TFLite model
// whose values can be read, and that keeps its content when it is written, with its buffers inside of the
// flatbuffer or behind it.
#pragma once

#include <string>

namespace ounce::test {

// Returns whether the bytes are a model. Throws BrokenPromise (promise.h), and lets every exception pass that
// is not the refusal of bad input.
bool check_tflite(const std::string& bytes);

// The first byte names a recipe, and the others are a model: it is refused, or planned, and what is made of
// it can be read again and holds what the plan says. Nothing runs.
void check_tflite_quantize(const std::string& bytes);

}  // namespace ounce::test
