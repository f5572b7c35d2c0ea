#include "quant/float_source.h"

#include <cstring>

#include "kernels/half.h"

namespace ounce::quant {

FloatType float_type_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat16: return FloatType::kFloat16;
    case ElementType::kBfloat16: return FloatType::kBfloat16;
    case ElementType::kDouble: return FloatType::kFloat64;
    default: return FloatType::kFloat32;
  }
}

std::size_t width_of(FloatType type) {
  switch (type) {
    case FloatType::kFloat16:
    case FloatType::kBfloat16: return 2;
    case FloatType::kFloat64: return 8;
    case FloatType::kFloat32: break;
  }
  return 4;
}

void FloatSource::convert(std::size_t first, std::size_t count, float* out) const {
  const auto* source = reinterpret_cast<const std::byte*>(bytes_.data()) + first * width_of(type_);
  switch (type_) {
    case FloatType::kFloat16: kernels::f16_to_f32(source, count, out); break;
    case FloatType::kBfloat16: kernels::bf16_to_f32(source, count, out); break;
    case FloatType::kFloat64: kernels::f64_to_f32(source, count, out); break;
    case FloatType::kFloat32: std::memcpy(out, source, count * sizeof(float)); break;
  }
}

const std::byte* FloatSource::values(std::size_t first, std::size_t count,
                                     std::vector<float>& scratch) const {
  if (type_ == FloatType::kFloat32)
    return reinterpret_cast<const std::byte*>(bytes_.data()) + first * sizeof(float);
  scratch.resize(count);
  convert(first, count, scratch.data());
  return reinterpret_cast<const std::byte*>(scratch.data());
}

FloatSource::Matrix FloatSource::matrix(std::size_t first, std::size_t rows, std::size_t columns,
                                        std::size_t stride, std::vector<float>& scratch) const {
  if (type_ == FloatType::kFloat32) return {values(first, 0, scratch), stride};
  scratch.resize(rows * columns);
  for (std::size_t row = 0; row < rows; ++row)
    convert(first + row * stride, columns, scratch.data() + row * columns);
  return {reinterpret_cast<const std::byte*>(scratch.data()), columns};
}

void FloatSource::release(std::size_t first, std::size_t count) const {
  if (release_) release_(bytes_.substr(first * width_of(type_), count * width_of(type_)));
}

}  // namespace ounce::quant
