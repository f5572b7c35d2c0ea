// A tensor in a file of its own, as the test sets of ONNX models have them: input_0.pb holds a TensorProto.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "data/tensor.h"

namespace ounce::data {

// All element types, with their values inside the file. The name is empty when the file has none.
// Throws Error; `where` is what errors call the bytes.
NamedTensor read_pb_tensor(std::string_view bytes, const std::string& where);
NamedTensor read_pb_tensor(const std::filesystem::path& path);

}  // namespace ounce::data
