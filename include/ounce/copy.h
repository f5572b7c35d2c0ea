// Copies a model without changing its values; merges external data into the model file, or splits it off.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <ounce/progress.h>
#include <ounce/recipe.h>

namespace ounce {

struct CopyResult {
  std::filesystem::path model, output;
  std::uint64_t bytes_before = 0, bytes_after = 0;
};

// Checks `model` and writes a copy to `output`. With ExternalData::kAuto the copy and its external files are
// byte-identical. `data_name`: see QuantizeOptions. Throws Error.
CopyResult copy_model(const std::filesystem::path& model, const std::filesystem::path& output,
                      ExternalData external_data = ExternalData::kAuto, Progress* progress = nullptr,
                      const std::string& data_name = {});

}  // namespace ounce
