// The importance of each layer: the measured gain from giving it more bits. Stored in a file, so that another
// budget can be spent without measuring again. Files of several data sets can be merged.
//
//   {"ounce.importance": 1, "format": "nbits4", "samples": 48, "error": 0.0023,
//    "layers": {"/layers.0/mlp/down": {"weights": 4194304, "gain": 0.00011}, …}}
//
// A layer is named by the output of its first product. Errors are noise-to-signal ratios of the model's
// outputs; `gain` is the decrease of the error if only this layer gets more bits.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace ounce::quantization {

struct Importance {
  struct Layer {
    std::uint64_t weights = 0;
    double gain = 0;
  };
  Format format = Format::kNbits4;  // of all layers before any gets more bits
  std::uint64_t samples = 0;
  double error = 0;  // with this format
  std::map<std::string, Layer> layers;
};

bool is_importance_file(const std::filesystem::path& path);
// Throws Error{kBadInput} if the file is not a valid importance file.
Importance read_importance(const std::filesystem::path& path);
// Throws Error{kUsage} if another kind of file has that name.
void write_importance(const Importance& importance, const std::filesystem::path& path);

// Averages the parts, weighted by their samples. Throws Error{kUsage} if their layers or formats differ, or
// if there are no samples.
Importance merged(std::span<const Importance> parts);

}  // namespace ounce::quantization
