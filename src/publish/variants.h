// What publish() reads and makes: the models of a folder, and the variants of each by the names that people
// know: the one table of suffixes and recipes.
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

// What a folder holds that is to be published: models, and all that belongs to them.
//
// The folder is somebody else's. A link is followed only to what is in the folder itself (or, in a cache of
// Hugging Face, in the blobs beside its snapshots), so that nothing of the rest of the disk is published.

struct InputFolder {
  std::filesystem::path root;                 // empty when the input is one model
  std::vector<std::filesystem::path> models;  // originals
  std::vector<std::filesystem::path> files;   // the others, relative to the root, sorted
  std::vector<std::string> notes;             // what is left out, and why

  bool has(const std::string& file) const;
};

// Throws Error{kIo} for what cannot be read, Error{kUsage} for a folder without models.
InputFolder read_input(const std::filesystem::path& input);

// The same of a folder that may have no models.
InputFolder contents_of(const std::filesystem::path& folder);

// A small text file of the folder. Throws Error{kBadInput} when it is larger than texts are.
std::string read_text(const std::filesystem::path& file);

}  // namespace ounce::publication
