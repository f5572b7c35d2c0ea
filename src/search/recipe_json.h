// A recipe as JSON: what the search has found stands in the journal, and names what was measured.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "search/candidate_maker.h"

namespace ounce::search {

// What a search changes; all else of a recipe is as it is by default.
nlohmann::json to_json(const Recipe& recipe);
// Throws nlohmann::json::exception for what to_json() did not write.
Recipe recipe_from(const nlohmann::json& json);

}  // namespace ounce::search
