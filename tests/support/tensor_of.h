// Test support: makes tensors and descriptions in one line.
//
//   const Tensor x = tensor_of<float>({2, 2}, {1, 2, 3, 4});
//   EXPECT_THAT(numbers_of<float>(x), ElementsAre(1, 2, 3, 4));
//   const ValueDescription input = described("x", ElementType::kFloat, {-1, 4});
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "data/tensor.h"

namespace ounce::data::test {

template <class T>
constexpr ElementType type_of() {
  if constexpr (std::is_same_v<T, float>) return ElementType::kFloat;
  if constexpr (std::is_same_v<T, double>) return ElementType::kDouble;
  if constexpr (std::is_same_v<T, std::int8_t>) return ElementType::kInt8;
  if constexpr (std::is_same_v<T, std::int16_t>) return ElementType::kInt16;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::kInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::kInt64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::kUint8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return ElementType::kUint16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return ElementType::kUint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return ElementType::kUint64;
}

template <class T>
Tensor tensor_of(Dims dims, const std::vector<T>& values, ElementType type = type_of<T>()) {
  Tensor tensor{type, std::move(dims), std::string(values.size() * sizeof(T), '\0'), {}};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

inline Tensor strings_of(Dims dims, std::vector<std::string> strings) {
  return {ElementType::kString, std::move(dims), {}, std::move(strings)};
}

template <class T>
std::vector<T> numbers_of(const TensorView& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
  return values;
}

// -1 is a dynamic axis; `names` are the names of the first ones.
inline ValueDescription described(std::string name, ElementType element, const Dims& dims,
                                  const std::vector<std::string>& names = {}) {
  ValueDescription value;
  value.name = std::move(name);
  value.element = element;
  for (std::size_t i = 0; i < dims.size(); ++i)
    value.shape.push_back({dims[i], i < names.size() ? names[i] : std::string()});
  return value;
}

}  // namespace ounce::data::test
