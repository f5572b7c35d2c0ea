// Chooses the open options of a low-bit recipe by measuring: the method, the layers that get more bits, and
// the products that may quantize their activations. Fits on one half of the data and compares outputs on the
// other half.
#pragma once

#include <ounce/quantize.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "quantize/candidate_error.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

// The importance of each layer: the measured gain from giving it more bits. Stored in a file, so that another
// budget can be spent without measuring again. Files of several data sets can be merged.
//
//   {"ounce.importance": 1, "format": "nbits4", "samples": 48, "error": 0.0023,
//    "layers": {"/layers.0/mlp/down": {"weights": 4194304, "gain": 0.00011}, …}}
//
// A layer is named by the output of its first product. Errors are noise-to-signal ratios of the model's
// outputs; `gain` is the decrease of the error if only this layer gets more bits.
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

bool needs_data(WeightMethod method);

// A layer that may get more bits.
struct NbitsLayer {
  std::vector<std::string> nodes;  // its products and lookups, named as in Recipe::nodes
  std::uint64_t weights = 0;
};

struct ModelSize {
  double bits = 0;          // mean bits per weight
  std::uint64_t bytes = 0;  // of the file
};
using SizeOf = std::function<ModelSize(const Recipe&)>;

// Resolves nbits.method, nbits.bits, nbits.target_size and nbits.accuracy_level of the recipe.
// Throws Error{kUsage} if an option needs data and there is none.
void search_nbits(const std::filesystem::path& path, const QuantizeOptions& given,
                  const PreparedModel& prepared, Recipe& recipe, std::vector<std::string>& notes);

// The steps of search_nbits().
void choose_method(CandidateError& meter, const PreparedModel& prepared, Recipe& recipe,
                   std::vector<std::string>& notes);
// Measures the gain from giving each layer more bits.
Importance measure_importance(CandidateError& meter, const PreparedModel& prepared,
                              const std::vector<NbitsLayer>& layers, const Recipe& recipe);
// Gives more bits to the layers with the largest gain per weight, within the recipe's budget. Throws
// Error{kUsage} if the model exceeds the budget even without this, or if the importance belongs to another
// model.
void spend_bits(const Importance& importance, const std::vector<NbitsLayer>& layers, const SizeOf& size_of,
                Recipe& recipe, std::vector<std::string>& notes);
void choose_levels(CandidateError& meter, const PreparedModel& prepared,
                   const std::vector<NbitsLayer>& layers, Recipe& recipe, std::vector<std::string>& notes);

}  // namespace ounce::quantization
