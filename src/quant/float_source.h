// The values of a weight of any float type as binary32. Binary32 data is read in place; other types are
// converted one tile at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "base/element_type.h"

namespace ounce::quant {

enum class FloatType { kFloat32, kFloat16, kBfloat16, kFloat64 };

std::size_t width_of(FloatType type);
FloatType float_type_of(ElementType type);  // kFloat32 for types that are not floats

class FloatSource {
 public:
  // `bytes` are little-endian values at any alignment. `release` is called with bytes that are not needed for
  // now.
  FloatSource(std::string_view bytes, FloatType type, std::function<void(std::string_view)> release = {})
      : bytes_(bytes), type_(type), release_(std::move(release)) {}

  std::size_t size() const { return bytes_.size() / width_of(type_); }
  std::string_view bytes() const { return bytes_; }
  std::string_view bytes_of(std::size_t first, std::size_t count) const {
    return bytes_.substr(first * width_of(type_), count * width_of(type_));
  }

  // Returns `count` values from `first` on, in place or in `scratch`.
  const std::byte* values(std::size_t first, std::size_t count, std::vector<float>& scratch) const;

  struct Matrix {
    const std::byte* data;
    std::size_t stride;  // floats from row to row
  };
  // Returns `rows` rows of `columns` values, `stride` values apart.
  Matrix matrix(std::size_t first, std::size_t rows, std::size_t columns, std::size_t stride,
                std::vector<float>& scratch) const;

  void release(std::size_t first, std::size_t count) const;
  void release() const { release(0, size()); }

 private:
  void convert(std::size_t first, std::size_t count, float* out) const;

  std::string_view bytes_;
  FloatType type_;
  std::function<void(std::string_view)> release_;
};

}  // namespace ounce::quant
