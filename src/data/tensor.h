// Values on their way into or out of a model, descriptions of a model's inputs and outputs, and sources of
// samples.
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

// Row-major values in little-endian order, as in raw_data and .npy; strings are kept separately.
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

// A view of a tensor in the memory of another owner.
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
    std::int64_t value = -1;  // -1 for a dynamic axis …
    std::string name;         // … and its name, if it has one
  };
  std::string name;
  ElementType element = ElementType::kUndefined;  // kUndefined: not a tensor but a sequence, a map …
  // Empty for a scalar, and for a tensor of unknown rank: the runtime does not distinguish them.
  std::vector<Dimension> shape;
  // Of an output that is a sequence or a map: the type of the numbers in it. A run gives them as one tensor,
  // element by element, and each map by its keys.
  ElementType inside = ElementType::kUndefined;

  bool is_tensor() const { return element != ElementType::kUndefined; }
  // The element type that a run returns.
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
std::span<const T> values_of(const TensorView& view) {
  return {reinterpret_cast<const T*>(view.bytes.data()), view.bytes.size() / sizeof(T)};
}
template <class T>
std::span<T> values_of(Tensor& tensor) {
  return {reinterpret_cast<T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}

// A bool in memory is 0 or 1. A file may hold any byte, and every byte but 0 means true.
inline void make_bools_valid(std::string& bytes) {
  for (char& byte : bytes) byte = byte != 0 ? '\1' : '\0';
}

// A field of a source, as far as it is known before any sample is read.
struct Field {
  std::string name;
  ElementType type = ElementType::kUndefined;  // kUndefined: differs, or known only when a sample is read
  std::optional<Dims> dims;                    // nothing: differs from sample to sample
};

// A sample has fields: named tensors without a batch axis. Labels are fields like any other.
struct Sample {
  std::string name;  // for messages: "val.npz[17]", "faces/1.jpg"
  std::vector<NamedTensor> fields;
  double sampling_rate = 0;  // of sound, where the file tells; 0 otherwise

  const Tensor* find(std::string_view field) const;
};

// Samples from an archive of arrays, a folder of images, a list … DataFeed decides which field feeds which
// input of a model. Any sample can be read at any time, but only reading in order is fast and keeps memory
// bounded: a dataset may be larger than memory.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::vector<Field>& fields() const = 0;
  // All names in its file, for messages; fields() may be a selection of them.
  virtual std::vector<std::string> names_there() const;
  // True if its tensors are whole inputs of a model, with the batch axis.
  virtual bool has_batch_axis() const { return false; }
  // True if a sequence (a recording that is cut into frames) begins with this sample.
  virtual bool starts_sequence(std::uint64_t index) const { return index == 0; }
  // Throws Error{kBadInput} naming the file when it is not what its name or header says.
  virtual Sample read(std::uint64_t index) = 0;

 protected:
  // Throws Error{kInternal} for an index beyond the end; `where` names the file.
  void require_sample(std::uint64_t index, const std::string& where) const;
};

// Conversions between element types that cannot change the meaning of values.

// Between floats and between integers (a value that does not fit is an error), and 0 and 1 to bool. Integers
// are not converted to floats: pixels and samples of sound need a scale, which a contract gives. Throws
// Error{kBadInput}; `where` names the sample and the input.
Tensor convert(Tensor tensor, ElementType to, const std::string& where);

// The bytes of one number as this type; an integer is rounded. Throws Error{kBadInput}.
std::string bytes_of_value(double value, ElementType type, const std::string& where);

// All values as doubles, from any number type. Throws Error{kBadInput} for strings and complex
// numbers.
std::vector<double> to_doubles(const TensorView& tensor, const std::string& where);
// A view of the values as floats: of the tensor itself if it holds floats, else of `converted`.
std::span<const float> floats_of(const TensorView& tensor, std::vector<float>& converted,
                                 const std::string& where);
void to_floats(const TensorView& tensor, std::vector<float>& floats, const std::string& where);

}  // namespace ounce::data
