// Which layers hurt, by measuring: each group alone, all but it, and what to leave out.
#pragma once

#include <ounce/sensitivity.h>

#include <filesystem>

namespace ounce::search {

SensitivityResult rank_layers(const std::filesystem::path& model, const SensitivityOptions& options);

}  // namespace ounce::search
