// A .npy file: one field, named after the file, whose leading axis counts the samples.
#pragma once

#include <filesystem>

#include "data/array_source.h"

namespace ounce::data {

class NpySource : public ArraySource {
 public:
  // Throws Error.
  explicit NpySource(const std::filesystem::path& path);
};

}  // namespace ounce::data
