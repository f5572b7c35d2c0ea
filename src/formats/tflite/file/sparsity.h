// Sparse tensors: which of their values are stored.
//
// The dimensions of the tensor, and those of its blocks if it has any, are visited in the order that the
// sparsity gives. A dense dimension has all its indices; a compressed one lists, for every position that the
// dimensions before it lead to, a segment of indices, as in the CSR format.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// How many values are stored. Calls `refuse`, which throws, if the sparsity does not fit the tensor.
std::uint64_t stored_values(const Tensor& tensor, const std::function<void(const std::string&)>& refuse);

// All values of a sparse constant, row-major, zeros where none are stored. Not for types below one byte.
// Throws Error{kUnsupported} for a tensor that is far larger than what is stored of it.
std::string densify(const Tensor& tensor, Bytes stored);

}  // namespace ounce::tflite
