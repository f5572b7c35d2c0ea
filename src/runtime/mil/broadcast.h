// Broadcasting of arrays of different shapes: dimensions are aligned at the end, and dimensions of 1 are
// repeated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/mil/call.h"

namespace ounce::mil {

// The shape of the result. Fails if the shapes cannot be broadcast.
Dims broadcast_dims(const Call& call, const Dims& a, const Dims& b);

// Maps a position in the result to the position in an operand.
class BroadcastIndex {
 public:
  BroadcastIndex(const Dims& operand, const Dims& result);
  std::size_t operator()(std::size_t at) const {
    if (is_same_) return at;
    if (is_scalar_) return 0;
    std::size_t index = 0;
    for (std::size_t axis = result_.size(); axis-- > 0;) {
      index += at % result_[axis] * strides_[axis];
      at /= result_[axis];
    }
    return index;
  }

 private:
  bool is_same_ = false, is_scalar_ = false;
  std::vector<std::size_t> result_, strides_;  // stride 0: the operand is repeated
};

// Calls visit(position in the result, in a, in b) for every element, in order.
template <class Visit>
void for_each_pair(const Dims& a, const Dims& b, const Dims& result, const Visit& visit) {
  const std::size_t count = count_of(result);
  if (count == 0) return;
  const std::size_t inner = result.empty() ? 1 : static_cast<std::size_t>(result.back());
  const BroadcastIndex of_a(a, result), of_b(b, result);
  // Along the last dimension an operand advances by one or is repeated.
  const std::size_t step_a = a.empty() || (a.back() == 1 && inner != 1) ? 0 : 1;
  const std::size_t step_b = b.empty() || (b.back() == 1 && inner != 1) ? 0 : 1;
  for (std::size_t row = 0; row < count; row += inner) {
    std::size_t at_a = of_a(row), at_b = of_b(row);
    for (std::size_t at = row; at < row + inner; ++at, at_a += step_a, at_b += step_b) visit(at, at_a, at_b);
  }
}

}  // namespace ounce::mil
