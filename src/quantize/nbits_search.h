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
struct FewBitLayer {
  std::vector<std::string> nodes;  // named as in Recipe::nodes
  std::uint64_t weights = 0;
};

// What a model takes: mean bits of a weight, and bytes of the file.
struct ModelSize {
  double bits = 0;
  std::uint64_t bytes = 0;
};
using SizeOf = std::function<ModelSize(const Recipe&)>;

// Resolves few_bits.method, few_bits.bits, few_bits.target_size and few_bits.accuracy_level of the recipe.
// Throws Error{kUsage} for what needs data when there is none.
void search_few_bits(const std::filesystem::path& path, const QuantizeOptions& given,
                     const PreparedModel& prepared, Recipe& recipe, std::vector<std::string>& notes);

// The parts of it, each asking the meter and nobody else.
void choose_method(ErrorMeter& meter, const PreparedModel& prepared, Recipe& recipe,
                   std::vector<std::string>& notes);
// What more bits bring to each layer.
Importance measure_importance(ErrorMeter& meter, const PreparedModel& prepared,
                              const std::vector<FewBitLayer>& layers, const Recipe& recipe);
// Gives them to those that bring the most for their weights, as long as the recipe's budget lasts. Throws
// Error{kUsage} if nothing fits it, or if the importance is that of another model.
void spend_bits(const Importance& importance, const std::vector<FewBitLayer>& layers, const SizeOf& size_of,
                Recipe& recipe, std::vector<std::string>& notes);
void choose_levels(ErrorMeter& meter, const PreparedModel& prepared, const std::vector<FewBitLayer>& layers,
                   Recipe& recipe, std::vector<std::string>& notes);

}  // namespace ounce::quantization
