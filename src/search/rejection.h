// Why a model that was tried cannot be the answer, in a few words for a table.
#pragma once

#include <ounce/tune.h>

#include <string>

namespace ounce::search {

// Empty if it can be. `held_out`: the result on the held-out data, if that refused it and is known.
std::string rejection_of(const TuneTrial& trial, Objective objective, const TuneTrial* held_out = nullptr);

}  // namespace ounce::search
