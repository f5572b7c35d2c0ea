// A recipe in which nothing is left to be found by measuring: the same model comes out of it every time.
#pragma once

#include <ounce/recipe.h>

namespace ounce::make {

struct ResolvedRecipe {
  Recipe recipe;
  bool is_equalized = false;  // it is for the prepared model whose channels are equalized between layers
};

}  // namespace ounce::make
