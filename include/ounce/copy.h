// Copies a model without changing its values; merges external data into the model file, or splits it off;
// gives dynamic axes fixed lengths.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <ounce/progress.h>
#include <ounce/recipe.h>

namespace ounce {

struct CopyOptions {
  ExternalData external_data = ExternalData::kAuto;
  std::string data_name = {};  // see QuantizeOptions
  // Fixed lengths of dynamic axes of the inputs, by parameter ("N") or place ("x:2"). A parameter gets its
  // length everywhere in the model. Empty: shapes are unchanged.
  std::map<std::string, std::int64_t> shape = {};
  Progress* progress = nullptr;
};

struct CopyResult {
  std::filesystem::path model, output;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  // With CopyOptions::shape: the inputs and outputs of the copy, "input x float32[1,3,224,224]".
  std::vector<std::string> ports = {};
};

// Checks `model` and writes a copy to `output`. With the default options the copy and its external files are
// byte-identical. Throws Error.
CopyResult copy_model(const std::filesystem::path& model, const std::filesystem::path& output,
                      const CopyOptions& options = {});

}  // namespace ounce
