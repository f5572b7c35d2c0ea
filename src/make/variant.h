// A model as a recipe makes it, for measuring only: written without the checks and the trial that a result
// goes through.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <filesystem>

#include "base/thread_pool.h"
#include "make/prepared_model.h"

namespace ounce::make {

// Gives the bytes of the model and of its external data.
std::uint64_t write_variant(const PreparedModel& prepared, const Recipe& recipe,
                            const std::filesystem::path& file, ThreadPool& pool);

}  // namespace ounce::make
