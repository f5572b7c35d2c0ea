// What more bits bring to each layer of a model, as it was measured on data: kept in a file, so that another
// budget can be spent without measuring again, and put together with what other data said.
//
//   {"ounce.importance": 1, "format": "nbits4", "samples": 48, "error": 0.0023,
//    "layers": {"/layers.0/mlp/down": {"weights": 4194304, "gain": 0.00011}, …}}
//
// A layer is named by the value that its first product gives. Errors are noise over signal at the model's
// outputs; `gain` is how much of it goes when that layer alone gets more bits.
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
  Format format = Format::kNbits4;  // that all layers had at first
  std::uint64_t samples = 0;
  double error = 0;  // then
  std::map<std::string, Layer> layers;
};

bool is_importance_file(const std::filesystem::path& path);
// Throws Error{kBadInput} for what is no such file.
Importance read_importance(const std::filesystem::path& path);
// Throws Error{kUsage} if something else has that name.
void write_importance(const Importance& importance, const std::filesystem::path& path);

// Means over the samples of all. Throws Error{kUsage} if their layers or formats differ, or there are none.
Importance merged(std::span<const Importance> parts);

}  // namespace ounce::quantization
