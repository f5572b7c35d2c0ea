// Values on their way into or out of a model, and descriptions of what a model takes and gives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/element_type.h"

namespace ounce::data {

using Dims = std::vector<std::int64_t>;

// Row-major values in little-endian order, as raw_data and .npy hold them; strings stand apart.
struct Tensor {
  ElementType type = ElementType::kUndefined;
  Dims dims;
  std::string bytes;
  std::vector<std::string> strings = {};  // for kString, instead of bytes
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// The same, in memory that somebody else owns.
struct TensorView {
  ElementType type = ElementType::kUndefined;
  Dims dims;
  std::string_view bytes;
  const std::vector<std::string>* strings = nullptr;

  TensorView() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a tensor may stand wherever a view is wanted
  TensorView(const Tensor& tensor)
      : type(tensor.type), dims(tensor.dims), bytes(tensor.bytes), strings(&tensor.strings) {}
};

// What a model takes or gives.
struct ValueDescription {
  struct Dimension {
    std::int64_t value = -1;  // -1 when it is free …
    std::string name;         // … and its name then, if it has one
  };
  std::string name;
  ElementType element = ElementType::kUndefined;  // kUndefined: not a tensor but a sequence, a map …
  // Empty for a scalar, and for a tensor of unknown rank: the runtime does not say which.
  std::vector<Dimension> shape;
  // Of an output that is a sequence or a map: the type of the numbers in it. A run gives them as one tensor,
  // element by element, and each map by its keys.
  ElementType inside = ElementType::kUndefined;

  bool is_tensor() const { return element != ElementType::kUndefined; }
  // Of what a run gives.
  ElementType given() const { return is_tensor() ? element : inside; }
};

inline Tensor copy_of(const TensorView& view) {
  return {view.type, view.dims, std::string(view.bytes),
          view.strings == nullptr ? std::vector<std::string>() : *view.strings};
}

// Throws Error{kBadInput} naming `what` for a negative dimension or a product beyond 2^63.
std::uint64_t element_count(const Dims& dims, std::string_view what);
// Of the values in Tensor::bytes; types narrower than a byte are packed. Not for strings.
std::uint64_t byte_count(ElementType type, const Dims& dims, std::string_view what);

// "float32[1,3,224,224]"
std::string describe(ElementType type, const Dims& dims);
std::string describe(const ValueDescription& value);  // free dimensions by their name, or "?"

// The values of a tensor as a type that C++ knows; T must be as wide as the elements.
template <class T>
std::span<const T> values_of(const Tensor& tensor) {
  return {reinterpret_cast<const T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}
template <class T>
std::span<T> values_of(Tensor& tensor) {
  return {reinterpret_cast<T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}

// A bool in memory is 0 or 1. A file may hold any byte, and every byte but 0 means true.

inline void make_bools_valid(std::string& bytes) {
  for (char& byte : bytes) byte = byte != 0 ? '\1' : '\0';
}

}  // namespace ounce::data
