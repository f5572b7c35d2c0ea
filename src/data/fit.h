// The shape that a sample takes as a model's input.
#pragma once

#include "data/tensor.h"

namespace ounce::data {

// The input's dimensions for one sample, with the batch axis (of 1) if the input has one. A sample [8000]
// fits [N,8000], [N,1,8000] (axes of one entry may be added or left out) and [8000]. `is_whole`: the sample
// has its batch axis already. `is_image`: it was read as bytes, which a contract can bring into another
// layout. Throws Error{kBadInput} when it does not fit.
Dims fit(const Dims& sample, const ValueDescription& input, bool is_whole, const std::string& where,
         bool is_image = false);

}  // namespace ounce::data
