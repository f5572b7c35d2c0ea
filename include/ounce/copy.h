// Reads a model and writes it again without changing a number: packs external data into one file, or out of
// it.
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

// With ExternalData::kAuto the copy is identical, byte for byte, and so are its external files. `data_name`:
// see QuantizeOptions.
CopyResult copy_model(const std::filesystem::path& model, const std::filesystem::path& output,
                      ExternalData external_data = ExternalData::kAuto, Progress* progress = nullptr,
                      const std::string& data_name = {});

}  // namespace ounce
