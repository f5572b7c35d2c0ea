// Recipes as JSON, for provenance records and for the journal of a search.
#pragma once

#include <ounce/recipe.h>

#include <nlohmann/json_fwd.hpp>
#include <cstdint>

namespace ounce::quantization {

// Returns the recipe without search and equalization.
inline Recipe as_it_is(Recipe recipe) {
  recipe.integer.search = recipe.integer.equalize = false;
  return recipe;
}

// Writes the non-default fields of a resolved recipe (one without open options). Leaves out
// `integer.raw_inputs`, which follows from the preprocessing metadata.
nlohmann::json to_json(const Recipe& recipe);
// Throws nlohmann::json::exception unless the value is an integer from 0 to 2^64 - 1.
std::uint64_t whole_number(const nlohmann::json& value);

// Reads a resolved recipe. Throws nlohmann::json::exception if to_json() cannot have written it.
Recipe recipe_from(const nlohmann::json& json);

}  // namespace ounce::quantization
