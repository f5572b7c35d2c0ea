// Converts values in a program file to arrays.
#pragma once

#include "formats/coreml/file/model.h"
#include "runtime/mil/array.h"

namespace ounce::mil {

// The type of a Core ML type during evaluation. Throws Error{kUnsupported} for unsupported types.
ElementType element_of(coreml::DataType type);

// Converts a value, unpacked to one number per element. Throws Error{kUnsupported} for lists, tuples and
// unsupported types.
Array array_of(const coreml::Value& value);

// Unpacks `count` unsigned numbers of `bits` bits. The first is in the lowest bits of the first byte.
std::vector<std::int32_t> unpack(std::string_view bytes, unsigned bits, std::size_t count);

}  // namespace ounce::mil
