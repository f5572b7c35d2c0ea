// The variants of a model that people expect, by the names they ask for them: the one table of suffixes and
// recipes.
#pragma once

#include <ounce/publish.h>
#include <ounce/recipe.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::publication {

struct Variant {
  std::string_view name;    // "q8"
  std::string_view suffix;  // "_quantized", behind the name of the model; in Layout::kPlain it is the name
  bool is_usual = false;    // made when none are chosen
  // Tried in this order, until one passes its gate; none: the original itself.
  std::vector<Recipe> recipes;
};

const std::vector<Variant>& all_variants();
// Throws Error{kUsage} that says what there is.
std::vector<const Variant*> chosen_variants(const std::vector<std::string>& names);

// Where the variant of the model `stem` goes, below the output, and the name of its external data.
std::filesystem::path place_of(Layout layout, const std::string& stem, const Variant& variant);
std::string data_name_of(Layout layout, const std::filesystem::path& file);

}  // namespace ounce::publication
