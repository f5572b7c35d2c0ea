// Tensors, descriptions of a model's inputs and outputs, and the interface of sources of samples.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/element_type.h"

namespace ounce::data {

using Dims = std::vector<std::int64_t>;

// A tensor. `bytes` has row-major little-endian values, as in raw_data and .npy; strings are stored
// separately.
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

// A non-owning view of a tensor.
struct TensorView {
  ElementType type = ElementType::kUndefined;
  Dims dims;
  std::string_view bytes;
  const std::vector<std::string>* strings = nullptr;

  TensorView() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a tensor may be passed wherever a view is wanted
  TensorView(const Tensor& tensor)
      : type(tensor.type), dims(tensor.dims), bytes(tensor.bytes), strings(&tensor.strings) {}
};

// An input or output of a model.
struct ValueDescription {
  struct Dimension {
    std::int64_t value = -1;  // -1: a dynamic axis
    std::string name;         // of a dynamic axis; may be empty
  };
  std::string name;
  ElementType element = ElementType::kUndefined;  // kUndefined: not a tensor, but a sequence or a map
  // Empty for a scalar, and for a tensor of unknown rank: the runtime does not distinguish them.
  std::vector<Dimension> shape;
  // For outputs that are sequences or maps: the type of the numbers inside. A run returns them as one tensor:
  // the elements in order, each map sorted by its keys.
  ElementType inside = ElementType::kUndefined;

  bool is_tensor() const { return element != ElementType::kUndefined; }
  // The element type that a run returns.
  ElementType given() const { return is_tensor() ? element : inside; }
};

inline Tensor copy_of(const TensorView& view) {
  return {view.type, view.dims, std::string(view.bytes),
          view.strings == nullptr ? std::vector<std::string>() : *view.strings};
}

// The number of elements. Throws Error{kBadInput} with the name `what` for a negative dimension or a product
// above 2^63.
std::uint64_t element_count(const Dims& dims, std::string_view what);
// The size of Tensor::bytes; types narrower than a byte are packed. Not for strings.
std::uint64_t byte_count(ElementType type, const Dims& dims, std::string_view what);

// "float32[1,3,224,224]"
std::string describe(ElementType type, const Dims& dims);
std::string describe(const ValueDescription& value);  // dynamic dimensions by name, or "?"

// Views the values of a tensor as a C++ type, whose size must equal the element size.
template <class T>
std::span<const T> values_of(const Tensor& tensor) {
  return {reinterpret_cast<const T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}
template <class T>
std::span<const T> values_of(const TensorView& view) {
  return {reinterpret_cast<const T*>(view.bytes.data()), view.bytes.size() / sizeof(T)};
}
template <class T>
std::span<T> values_of(Tensor& tensor) {
  return {reinterpret_cast<T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}

// Normalizes bools: a file may have any byte, where nonzero means true, but C++ allows only 0 and 1.
inline void make_bools_valid(std::string& bytes) {
  for (char& byte : bytes) byte = byte != 0 ? '\1' : '\0';
}

// The description of a source's field before any sample is read.
struct Field {
  std::string name;
  ElementType type = ElementType::kUndefined;  // kUndefined: varies, or not known yet
  std::optional<Dims> dims;                    // empty: varies between samples
};

// A sample: named tensors (fields) without a batch axis. Labels are fields, too.
struct Sample {
  std::string name;  // for messages: "val.npz[17]", "faces/1.jpg"
  std::vector<NamedTensor> fields;
  double sampling_rate = 0;  // of sound; 0: unknown

  const Tensor* find(std::string_view field) const;
};

// Samples from an archive of arrays, a folder of images, a list and so on. DataFeed maps fields to the inputs
// of a model. Samples can be read in any order, but only reading in order is fast. Memory is bounded:
// datasets may be larger than memory.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::vector<Field>& fields() const = 0;
  // All field names in the file, for messages; fields() may have only some of them.
  virtual std::vector<std::string> names_there() const;
  // True if the tensors have a batch axis already.
  virtual bool has_batch_axis() const { return false; }
  // True if a sequence begins with this sample, such as a recording that is cut into frames.
  virtual bool starts_sequence(std::uint64_t index) const { return index == 0; }
  // Throws Error{kBadInput} with the file's name if its content is invalid.
  virtual Sample read(std::uint64_t index) = 0;

 protected:
  // Throws Error{kInternal} if the index is out of range; `where` names the file.
  void require_sample(std::uint64_t index, const std::string& where) const;
};

// Conversions between element types that do not change the meaning of values.

// Converts between float types, between integer types (values out of range are errors), and 0 and 1 to bool.
// Integers are not converted to floats, because pixels and sound samples need a scale, which the contract
// defines. Throws Error{kBadInput}; `where` names the sample and the input.
Tensor convert(Tensor tensor, ElementType to, const std::string& where);

// Converts a number to the bytes of an element type, with rounding for integers. Throws Error{kBadInput}.
std::string bytes_of_value(double value, ElementType type, const std::string& where);

// Converts all values to doubles. Throws Error{kBadInput} for strings and complex numbers.
std::vector<double> to_doubles(const TensorView& tensor, const std::string& where);
// Views the values as floats: the tensor's own if they are floats, else values converted into `converted`.
std::span<const float> floats_of(const TensorView& tensor, std::vector<float>& converted,
                                 const std::string& where);
void to_floats(const TensorView& tensor, std::vector<float>& floats, const std::string& where);

}  // namespace ounce::data
