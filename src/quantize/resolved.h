// What resolving a recipe comes to.
#pragma once

#include <ounce/recipe.h>

#include <memory>
#include <string>

#include "quantize/prepared_model.h"

namespace ounce::quantization {

// A recipe in which nothing is left to be found by measuring, and the model that it is for: nothing is
// searched for, and integer.equalize says that the prepared model is equalized. The same model comes out
// every time.
struct Resolved {
  std::shared_ptr<const PreparedModel> prepared;
  Recipe recipe;
  std::string why_floats = {};  // nothing of it computes on integers, as was found by measuring
};

// The recipe itself, with nothing searched for and nothing equalized.
inline Recipe as_it_is(Recipe recipe) {
  recipe.integer.search = recipe.integer.equalize = false;
  return recipe;
}

}  // namespace ounce::quantization
