// No output takes the place of what it is made of.
#pragma once

#include <ounce/error.h>

#include <filesystem>

#include "onnx/model.h"

namespace ounce::api {

// Throws Error{kUsage} with this message when `output` is the model's file or one of its external ones.
inline void require_another_file(const onnx::Model& model, const std::filesystem::path& output,
                                 const char* message) {
  bool is_same = model.file.same_file_as(output);
  for (const auto& [location, file] : model.external_files) is_same = is_same || file.same_file_as(output);
  if (is_same) throw Error(ErrorCode::kUsage, message, output.string());
}

}  // namespace ounce::api
