// Conversions between element types that cannot change the meaning of values.
#pragma once

#include <span>

#include "data/tensor.h"

namespace ounce::data {

// Between floats and between integers (a value that does not fit is an error), and 0 and 1 to bool. Integers
// are not converted to floats: pixels and samples of sound need a scale, which a contract gives. Throws
// Error{kBadInput}; `where` names the sample and the input.
Tensor convert(Tensor tensor, ElementType to, const std::string& where);

// The bytes of one number as this type; an integer is rounded. Throws Error{kBadInput}.
std::string bytes_of_value(double value, ElementType type, const std::string& where);

// All values as doubles, from any number type. Throws Error{kBadInput} for strings and complex
// numbers.
std::vector<double> to_doubles(const TensorView& tensor, const std::string& where);
// A view of the values as floats: of the tensor itself if it holds floats, else of `converted`.
std::span<const float> floats_of(const TensorView& tensor, std::vector<float>& converted,
                                 const std::string& where);
void to_floats(const TensorView& tensor, std::vector<float>& floats, const std::string& where);

}  // namespace ounce::data
