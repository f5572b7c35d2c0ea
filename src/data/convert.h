// From one element type to another, where nobody can be surprised by the result.
#pragma once

#include <span>

#include "data/tensor.h"

namespace ounce::data {

// Between floats and between integers (a value that does not fit is an error), and 0 and 1 to bool. Integers
// do not become floats by themselves: pixels and samples of sound need a scale, which is for a contract to
// say. Throws Error{kBadInput}; `where` names the sample and the input.
Tensor convert(Tensor tensor, ElementType to, const std::string& where);

// All values as doubles, whatever number type they have. Throws Error{kBadInput} for strings and complex
// numbers.
std::vector<double> to_doubles(const TensorView& tensor, const std::string& where);
// A view of the values as floats: of the tensor itself if it holds floats, else of `converted`.
std::span<const float> floats_of(const TensorView& tensor, std::vector<float>& converted,
                                 const std::string& where);
void to_floats(const TensorView& tensor, std::vector<float>& floats, const std::string& where);

}  // namespace ounce::data
