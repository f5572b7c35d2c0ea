// What is wrong with a tensor of a file, said with the tensor's name.
#pragma once

#include <fmt/format.h>
#include <ounce/error.h>

#include <string>

#include "onnx/model.h"

namespace ounce::onnx {

// Throws Error{kBadInput}.
[[noreturn]] inline void fail(const Tensor& tensor, const std::string& what) {
  throw Error(ErrorCode::kBadInput, what, fmt::format("tensor '{}'", tensor.name));
}

}  // namespace ounce::onnx
