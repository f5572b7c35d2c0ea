// What a recipe for few bits leaves open, found by measuring: the method, which layers get more bits, and
// which products may turn their activations into integers. One half of the data is fitted to, outputs are
// compared on the other.
#pragma once

#include <ounce/quantize.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "quantize/candidate_error.h"
#include "quantize/importance.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

// Looks at data.
bool needs_data(WeightMethod method);

// A layer that may get more bits: its products' values, and what it takes.
struct NbitsLayer {
  std::vector<std::string> nodes;  // named as in Recipe::nodes
  std::uint64_t weights = 0;
};

// What a model takes: mean bits of a weight, and bytes of the file.
struct ModelSize {
  double bits = 0;
  std::uint64_t bytes = 0;
};
using SizeOf = std::function<ModelSize(const Recipe&)>;

// Resolves nbits.method, nbits.bits, nbits.target_size and nbits.accuracy_level of the recipe.
// Throws Error{kUsage} for what needs data when there is none.
void search_nbits(const std::filesystem::path& path, const QuantizeOptions& given,
                  const PreparedModel& prepared, Recipe& recipe, std::vector<std::string>& notes);

// The parts of it, each asking the meter and nobody else.
void choose_method(CandidateError& meter, const PreparedModel& prepared, Recipe& recipe,
                   std::vector<std::string>& notes);
// What more bits bring to each layer.
Importance measure_importance(CandidateError& meter, const PreparedModel& prepared,
                              const std::vector<NbitsLayer>& layers, const Recipe& recipe);
// Gives them to those that bring the most for their weights, as long as the recipe's budget lasts. Throws
// Error{kUsage} if nothing fits it, or if the importance is that of another model.
void spend_bits(const Importance& importance, const std::vector<NbitsLayer>& layers, const SizeOf& size_of,
                Recipe& recipe, std::vector<std::string>& notes);
void choose_levels(CandidateError& meter, const PreparedModel& prepared,
                   const std::vector<NbitsLayer>& layers, Recipe& recipe, std::vector<std::string>& notes);

}  // namespace ounce::quantization
