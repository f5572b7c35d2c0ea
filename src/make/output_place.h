// What an output must not be: one that takes the place of what it is made of, or that has no place.
#pragma once

#include <ounce/error.h>

#include <filesystem>
#include <system_error>

#include "onnx/model.h"

namespace ounce::make {

// Throws Error{kUsage} with this message when `output` is the model's file or one of its external ones.
inline void require_another_file(const onnx::Model& model, const std::filesystem::path& output,
                                 const char* message) {
  bool is_same = model.file.same_file_as(output);
  for (const auto& [location, file] : model.external_files) is_same = is_same || file.same_file_as(output);
  if (is_same) throw Error(ErrorCode::kUsage, message, output.string());
}

// Throws Error{kIo} when its folder is not there: said before minutes of work, not after.
inline void require_folder(const std::filesystem::path& output) {
  const std::filesystem::path folder = std::filesystem::absolute(output).parent_path();
  if (std::filesystem::is_directory(folder)) return;
  const auto why =
      std::filesystem::exists(folder) ? std::errc::not_a_directory : std::errc::no_such_file_or_directory;
  throw Error(ErrorCode::kIo, "cannot write: " + std::make_error_code(why).message(), output.string());
}

}  // namespace ounce::make
