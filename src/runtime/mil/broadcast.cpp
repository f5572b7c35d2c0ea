#include "runtime/mil/broadcast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ounce::mil {

Dims broadcast_dims(const Call& call, const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims result(rank);
  for (std::size_t from_end = 1; from_end <= rank; ++from_end) {
    const std::int64_t of_a = from_end <= a.size() ? a[a.size() - from_end] : 1;
    const std::int64_t of_b = from_end <= b.size() ? b[b.size() - from_end] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1)
      call.fail(fmt::format("the shapes [{}] and [{}] cannot be broadcast", fmt::join(a, ", "),
                            fmt::join(b, ", ")));
    result[rank - from_end] = of_a == 1 ? of_b : of_a;
  }
  return result;
}

BroadcastIndex::BroadcastIndex(const Dims& operand, const Dims& result)
    : is_same_(operand == result), is_scalar_(product_of(operand, 0, operand.size()) == 1) {
  const std::vector<std::size_t> strides = strides_of(operand);
  for (std::size_t axis = 0; axis < result.size(); ++axis) {
    result_.push_back(static_cast<std::size_t>(std::max<std::int64_t>(result[axis], 1)));
    const std::size_t missing = result.size() - operand.size();
    const bool repeats = axis < missing || operand[axis - missing] == 1;
    strides_.push_back(repeats ? 0 : strides[axis - missing]);
  }
}

}  // namespace ounce::mil
