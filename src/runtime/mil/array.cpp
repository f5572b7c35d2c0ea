#include "runtime/mil/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>

#include "kernels/half.h"

namespace ounce::mil {

std::size_t product_of(const Dims& dims, std::size_t from, std::size_t to) {
  std::size_t product = 1;
  for (std::size_t axis = from; axis < to; ++axis) product *= static_cast<std::size_t>(dims[axis]);
  return product;
}

std::size_t count_of(const Dims& dims) {
  std::uint64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the shape [{}] has a negative dimension", fmt::join(dims, ", ")));
    is_empty |= dim == 0;
    const std::uint64_t size = static_cast<std::uint64_t>(std::max<std::int64_t>(dim, 1));
    if (size > kMostElements / count)
      throw Error(ErrorCode::kMemory, fmt::format("an array [{}] has more than {} elements",
                                                  fmt::join(dims, ", "), kMostElements));
    count *= size;
  }
  return is_empty ? 0 : static_cast<std::size_t>(count);
}

std::vector<std::size_t> strides_of(const Dims& dims) {
  std::vector<std::size_t> strides(dims.size());
  std::size_t stride = 1;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= static_cast<std::size_t>(dims[axis]);
  }
  return strides;
}

Array Array::floats(ElementType type, Dims dims) {
  Array array;
  array.type = type;
  array.f.resize(count_of(dims));
  array.dims = std::move(dims);
  return array;
}

Array Array::integers(ElementType type, Dims dims) {
  Array array;
  array.type = type;
  array.i.resize(count_of(dims));
  array.dims = std::move(dims);
  return array;
}

Array Array::zeros_like(const Array& like, Dims dims) {
  return like.is_float() ? floats(like.type, std::move(dims)) : integers(like.type, std::move(dims));
}

void copy_elements(const Array& from, std::size_t at, Array& to, std::size_t into, std::size_t count) {
  const auto first = static_cast<std::ptrdiff_t>(at), target = static_cast<std::ptrdiff_t>(into);
  if (from.is_float())
    std::copy_n(from.f.begin() + first, count, to.f.begin() + target);
  else
    std::copy_n(from.i.begin() + first, count, to.i.begin() + target);
}

void round_to_type(Array& array) {
  const auto each = [&](auto narrow) {
    for (std::int32_t& value : array.i) value = static_cast<std::int32_t>(narrow(value));
  };
  switch (array.type) {
    case ElementType::kFloat16: {
      std::vector<std::uint16_t> halves(array.f.size());
      kernels::HalfStats stats;
      kernels::f32_to_f16(reinterpret_cast<const std::byte*>(array.f.data()), array.f.size(), halves.data(),
                          stats);
      kernels::f16_to_f32(reinterpret_cast<const std::byte*>(halves.data()), halves.size(), array.f.data());
      return;
    }
    case ElementType::kInt8: return each([](std::int32_t v) { return static_cast<std::int8_t>(v); });
    case ElementType::kUint8: return each([](std::int32_t v) { return static_cast<std::uint8_t>(v); });
    case ElementType::kInt16: return each([](std::int32_t v) { return static_cast<std::int16_t>(v); });
    case ElementType::kUint16: return each([](std::int32_t v) { return static_cast<std::uint16_t>(v); });
    case ElementType::kBool: return each([](std::int32_t v) { return v != 0 ? 1 : 0; });
    default: return;
  }
}

}  // namespace ounce::mil
