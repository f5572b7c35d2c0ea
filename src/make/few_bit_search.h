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

#include "make/error_meter.h"
#include "make/prepared_model.h"

namespace ounce::make {

// Looks at data.
bool needs_data(WeightMethod method);

// A layer that may get more bits: its products' values, and what it takes.
struct FewBitLayer {
  std::vector<std::string> nodes;  // named as in Recipe::nodes
  std::uint64_t weights = 0;
};

// Resolves few_bits.method, few_bits.bits and few_bits.accuracy_level of the recipe. Throws Error{kUsage} for
// what needs data when there is none.
void search_few_bits(const std::filesystem::path& path, const QuantizeOptions& given,
                     const PreparedModel& prepared, Recipe& recipe, std::vector<std::string>& notes);

// The parts of it, each asking the meter and nobody else.
void choose_method(ErrorMeter& meter, const PreparedModel& prepared, Recipe& recipe,
                   std::vector<std::string>& notes);
void spend_bits(ErrorMeter& meter, const PreparedModel& prepared, const std::vector<FewBitLayer>& layers,
                const std::function<double(const Recipe&)>& mean_bits, Recipe& recipe,
                std::vector<std::string>& notes);
void choose_levels(ErrorMeter& meter, const PreparedModel& prepared, const std::vector<FewBitLayer>& layers,
                   Recipe& recipe, std::vector<std::string>& notes);

}  // namespace ounce::make
