// Values of a program file as arrays.
#pragma once

#include "formats/coreml/file/model.h"
#include "runtime/mil/array.h"

namespace ounce::mil {

// The type that values of a Core ML type have while they are evaluated. Throws Error{kUnsupported} for types
// without arithmetic here.
ElementType element_of(coreml::DataType type);

// A value of any type, unpacked to one number per element. Throws Error{kUnsupported} for lists, tuples and
// types that cannot be evaluated.
Array array_of(const coreml::Value& value);

// `count` unsigned numbers of `bits` bits, the first in the lowest bits of the first byte.
std::vector<std::int32_t> unpack(std::string_view bytes, unsigned bits, std::size_t count);

}  // namespace ounce::mil
