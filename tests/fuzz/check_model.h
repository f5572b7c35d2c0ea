// Checks the ONNX reader and writer with arbitrary bytes: they must be rejected with Error{kBadInput}, or be
// a model that is written back unchanged, can be encoded again, and has values in all of its tensors.
//
// The fuzzer, the mutation test and the replay of former failures call this function.
#pragma once

#include <string>

namespace ounce::test {

// Returns whether the bytes are a model that passes graph::validate. Throws BrokenPromise (promise.h), and
// any unexpected exception.
bool check_model(const std::string& bytes);

}  // namespace ounce::test
