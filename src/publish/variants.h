// The input folder of publish(), and the table of the variants that it writes, under their usual names, with
// file suffixes and recipes.
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
  std::string_view suffix;  // "_quantized", appended to the model's name; Layout::kPlain appends `name`
  bool is_usual = false;    // written by default
  // Tried in this order until one passes its gates; empty: the original itself.
  std::vector<Recipe> recipes;
};

const std::vector<Variant>& all_variants();
// Finds the variants by name. Throws Error{kUsage} with the known names.
std::vector<const Variant*> chosen_variants(const std::vector<std::string>& names);

// The path of a variant of the model `stem`, relative to the output folder, and the name of its external
// data.
std::filesystem::path place_of(Layout layout, const std::string& stem, const Variant& variant);
std::string data_name_of(Layout layout, const std::filesystem::path& file);

// The files of a folder to publish: models, and the files that belong to them.
//
// The folder is not trusted. Links are followed only to files in the folder itself (or, in a Hugging Face
// cache, in the blobs folder next to its snapshots), so that no other file of the disk is published.

struct InputFolder {
  std::filesystem::path root;                 // empty if the input is a single model
  std::vector<std::filesystem::path> models;  // original models
  std::vector<std::filesystem::path> files;   // other files, relative to the root, sorted
  std::vector<std::string> notes;             // the skipped files, and why

  bool has(const std::string& file) const;
};

// Throws Error{kIo} if something cannot be read, Error{kUsage} if the folder has no models.
InputFolder read_input(const std::filesystem::path& input);

// As read_input(), but accepts a folder without models.
InputFolder contents_of(const std::filesystem::path& folder);

// Reads a small text file of the folder. Throws Error{kBadInput} if it is too large.
std::string read_text(const std::filesystem::path& file);

}  // namespace ounce::publication
