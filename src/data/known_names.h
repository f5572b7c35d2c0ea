// Options speak of inputs and dimensions by name: a name that the model does not have is a mistake to tell.
#pragma once

#include <ounce/data.h>

#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// Looks at fields, constants, carried inputs, shapes and the contract. Throws Error{kUsage}.
void require_known_names(const std::vector<ValueDescription>& inputs, const DataOptions& options);

}  // namespace ounce::data
