// A model as a recipe makes it, for measuring only: written without the checks and the trial that a result
// goes through.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/thread_pool.h"
#include "make/prepared_model.h"
#include "plan/plan.h"

namespace ounce::make {

// What data adds to a plan before it is carried out.
using AdaptPlan = std::function<void(plan::Plan& plan, ThreadPool& pool)>;

// Gives the bytes of the model and of its external data.
std::uint64_t write_variant(const PreparedModel& prepared, const Recipe& recipe,
                            const std::filesystem::path& file, ThreadPool& pool, const AdaptPlan& adapt = {});

}  // namespace ounce::make
