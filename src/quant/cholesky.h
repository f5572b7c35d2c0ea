// H = Uᵀ U with U upper triangular, for symmetric positive definite H, in binary32.
//
// Then eᵀ H e = ‖U e‖², a sum of squares each of which brings in one more element of e: that is what lets
// roundings be chosen one after another (see reconstruct.h).
#pragma once

#include <cstddef>

#include "base/thread_pool.h"

namespace ounce::quant {

// `h` is n × n with n a multiple of kLanes; only its upper triangle is read, and U takes the place of all of
// it. A pivot that is not above `floor` (> 0) is a rounding error, and so is the rest of its row: it is taken
// for `floor`, and the rest for zeros.
void factorize(float* h, std::size_t n, float floor, const ForEach& for_each);

}  // namespace ounce::quant
