// Fields of a recipe that were set and that its format never looks at: whoever set them is told.
#pragma once

#include <ounce/recipe.h>

#include <string>
#include <vector>

namespace ounce::plan {

// A line for each, with the field's name in backticks.
std::vector<std::string> unread_fields(const Recipe& recipe);

}  // namespace ounce::plan
