// H = Uᵀ U with U upper triangular, for symmetric positive definite H, in binary32.
//
// Then eᵀ H e = ‖U e‖², a sum of squares each of which brings in one more element of e: that is what lets
// roundings be chosen one after another (see reconstruct.h).
#pragma once

#include <cstddef>

#include "base/jobs.h"

namespace ounce::quant {

// `h` is n × n with n a multiple of kLanes; only its upper triangle is read, and U takes the place of all of
// it. A pivot below `floor` (> 0), which only rounding errors can bring about when H's eigenvalues are
// larger, is taken for `floor`.
void factorize(float* h, std::size_t n, float floor, const ForEach& for_each);

}  // namespace ounce::quant
