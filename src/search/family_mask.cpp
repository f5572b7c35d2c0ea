#include "search/family_mask.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "onnx/values.h"
#include "plan/sources.h"

namespace ounce::search {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 26;  // a mask of 8192 positions

// Which values hide, of the first matrix in a tensor.
struct Pattern {
  std::vector<bool> hides;
  std::size_t side = 0;  // 0: no square
};

std::size_t side_of(const onnx::Tensor& tensor) {
  const std::size_t rank = tensor.dims.size();
  if (rank < 2 || tensor.dims[rank - 1] != tensor.dims[rank - 2] || tensor.dims[rank - 1] < 2) return 0;
  return static_cast<std::size_t>(tensor.dims[rank - 1]);
}

// Exactly what lies right of the diagonal hides, or exactly what does not when `inverted`.
bool is_triangle(const Pattern& pattern, bool inverted) {
  if (pattern.side == 0) return false;
  for (std::size_t row = 0; row < pattern.side; ++row) {
    for (std::size_t column = 0; column < pattern.side; ++column) {
      if (pattern.hides[row * pattern.side + column] != ((column > row) != inverted)) return false;
    }
  }
  return true;
}

std::optional<MaskConstant> read_floats(const onnx::Model& model, const std::string& name,
                                        const onnx::Tensor& tensor) {
  const plan::TensorSource source(model, tensor);
  const std::size_t count = source.floats().size();
  std::vector<float> scratch;
  const std::byte* bytes = source.floats().values(0, count, scratch);
  Pattern pattern{{}, side_of(tensor)};
  MaskConstant mask{name, 0, false};
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    mask.value = std::min(mask.value, value);
    if (i < pattern.side * pattern.side) pattern.hides.push_back(value <= kMaskFloor);
  }
  if (!(mask.value <= kMaskFloor)) return std::nullopt;
  mask.is_triangle = is_triangle(pattern, false);
  return mask;
}

std::optional<MaskConstant> read_answers(const std::string& name, const onnx::Tensor& tensor) {
  const onnx::RawValues values(tensor);
  Pattern pattern{{}, side_of(tensor)};
  const std::size_t count = pattern.side * pattern.side;
  if (count == 0 || values.bytes().size() < count) return std::nullopt;
  for (const char byte : values.bytes().substr(0, count)) pattern.hides.push_back(byte == 0);
  if (!is_triangle(pattern, false) && !is_triangle(pattern, true)) return std::nullopt;
  return MaskConstant{name, 0, true};
}

}  // namespace

std::optional<MaskConstant> read_mask(const onnx::Model& model, const std::string& name,
                                      const onnx::Tensor& tensor) {
  if (tensor.element_count() == 0 || tensor.element_count() > kMostElements) return std::nullopt;
  if (is_float_weight_type(tensor.type)) return read_floats(model, name, tensor);
  if (tensor.type == ElementType::kBool) return read_answers(name, tensor);
  return std::nullopt;
}

}  // namespace ounce::search
