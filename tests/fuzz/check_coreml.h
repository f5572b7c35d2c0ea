// Checks the Core ML reader and writer with arbitrary bytes: they must be rejected with Error{kBadInput}, or
// be a model whose values can be read and whose content is preserved when it is written.
#pragma once

#include <string>

namespace ounce::test {

// `bytes` are a model file and a weight file, joined by coreml::joined(). Returns whether they are a model.
// Throws BrokenPromise (promise.h), and any unexpected exception.
bool check_coreml(const std::string& bytes);

}  // namespace ounce::test
