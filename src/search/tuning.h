// One run of tune(): searches, and keeps the best so far in its place.
#pragma once

#include <ounce/tune.h>

#include <filesystem>

namespace ounce::search {

// Beside the output, for what nearly passed.
std::filesystem::path closest_name(std::filesystem::path output);

// The names of the output and of what comes closest are free to be written.
TuneResult find_best(const std::filesystem::path& model, const std::filesystem::path& output,
                     const TuneOptions& options);

}  // namespace ounce::search
