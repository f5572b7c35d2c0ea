// Values of an ML Program during evaluation: dense row-major arrays that own their memory.
//
//   Array x = Array::floats(ElementType::kFloat16, {1, 3, 8, 8});   // zeros
//   x.f[0] = 1.5F;
//   round_to_type(x);                                               // to values of float16
//
// Floats of every width are stored as binary32 and rounded to their declared type at the end of each
// operation. Integers and bools are stored as 32-bit integers, the type of integer arithmetic in ML Programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/element_type.h"

namespace ounce::mil {

using Dims = std::vector<std::int64_t>;

struct Array {
  ElementType type = ElementType::kFloat;
  Dims dims;
  std::vector<float> f;         // of float16 and float32
  std::vector<std::int32_t> i;  // of integers and bools
  std::string text;             // of a string

  // Arrays of zeros. Both throw Error{kBadInput} for a negative dimension and Error{kMemory} for more than
  // kMostElements.
  static Array floats(ElementType type, Dims dims);
  static Array integers(ElementType type, Dims dims);
  // Zeros with the same storage as `like`.
  static Array zeros_like(const Array& like, Dims dims);

  bool is_float() const { return type == ElementType::kFloat || type == ElementType::kFloat16; }
  bool is_string() const { return type == ElementType::kString; }
  std::size_t rank() const { return dims.size(); }
  std::size_t size() const { return is_float() ? f.size() : i.size(); }
  // The value at position `at` as a number.
  double number(std::size_t at) const { return is_float() ? static_cast<double>(f[at]) : i[at]; }
};

using ArrayPtr = std::shared_ptr<const Array>;

// The size limit of an array, so that a hostile shape gives an error instead of exhausting memory.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 31;

// The number of elements of a shape. Throws as Array::floats().
std::size_t count_of(const Dims& dims);
// Row-major strides, in elements.
std::vector<std::size_t> strides_of(const Dims& dims);
// The product of dims[from] … dims[to - 1].
std::size_t product_of(const Dims& dims, std::size_t from, std::size_t to);

// Copies `count` elements from position `at` to position `into`. Both arrays must have the same storage.
void copy_elements(const Array& from, std::size_t at, Array& to, std::size_t into, std::size_t count);

// Rounds the values of float16 arrays, and wraps integers to the width of their type.
void round_to_type(Array& array);

}  // namespace ounce::mil
