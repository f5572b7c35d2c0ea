// A recipe as JSON: it stands in the statement of a model, and in the journal of a search.
#pragma once

#include <ounce/recipe.h>

#include <nlohmann/json_fwd.hpp>
#include <cstdint>

namespace ounce::quantization {

// The recipe with nothing searched for and nothing equalized.
inline Recipe as_it_is(Recipe recipe) {
  recipe.integer.search = recipe.integer.equalize = false;
  return recipe;
}

// Of a resolved recipe, in which the search has left nothing open, everything that is not as it is by
// default. What follows from the data's contract (`integer.raw_inputs`) is found again, and left out.
nlohmann::json to_json(const Recipe& recipe);
// Throws nlohmann::json::exception for what is not 0, 1, 2 … up to 2^64 - 1.
std::uint64_t whole_number(const nlohmann::json& value);

// Nothing in it is left to be searched for. Throws nlohmann::json::exception for what to_json() did not
// write.
Recipe recipe_from(const nlohmann::json& json);

}  // namespace ounce::quantization
