// What must hold for any bytes at all: they are refused with Error{kBadInput}, or they are a model that comes
// back identical, survives being encoded anew, and has values in all of its tensors.
//
// The fuzzer, the mutation test and the replay of old failures all call this one function.
#pragma once

#include <string>

namespace ounce::test {

// Returns whether the bytes are a model whose parts fit together (graph::validate). Throws BrokenPromise
// (promise.h), and lets every exception pass that is not the refusal of bad input.
bool check_model(const std::string& bytes);

}  // namespace ounce::test
