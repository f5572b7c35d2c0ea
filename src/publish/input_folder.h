// What a folder holds that is to be published: models, and all that belongs to them.
//
// The folder is somebody else's. A link is followed only to what is in the folder itself (or, in a cache of
// Hugging Face, in the blobs beside its snapshots), so that nothing of the rest of the disk is published.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ounce::publication {

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
