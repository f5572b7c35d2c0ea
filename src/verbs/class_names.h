// --class-names: a file with the names of a model's classes, for the HTML report. It has one name per line,
// or is a JSON list, or a JSON object of names by number, also as "id2label" of a config.json.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "verbs/options.h"

namespace ounce::verbs {

void add_class_names_option(Options& options, std::string& path);

// Returns no names for an empty path. Throws Error{kBadInput} for other content.
std::vector<std::string> read_class_names(const std::filesystem::path& path);

}  // namespace ounce::verbs
