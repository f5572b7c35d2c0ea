// What must hold for any bytes at all: they are refused with Error{kBadInput}, or they are a Core ML model
// whose values can be read, and that keeps its content when it is written.
#pragma once

#include <string>

namespace ounce::test {

// A model file and a weight file, as coreml::joined() puts them together. Returns whether they are a model.
// Throws BrokenPromise (promise.h), and lets every exception pass that is not the refusal of bad input.
bool check_coreml(const std::string& bytes);

}  // namespace ounce::test
