// Reads TensorProto and SparseTensorProto, inline or with external data.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/element_type.h"
#include "formats/onnx/file/cursor.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/schema.h"

namespace ounce::onnx {

class TensorReader {
 public:
  // Without a folder, external data is refused.
  TensorReader(Model& model, const Origin& origin, std::optional<std::filesystem::path> folder)
      : model_(model), origin_(origin), folder_(std::move(folder)) {}

  Kept<Tensor> read(Bytes message);
  Kept<SparseTensor> read_sparse(Bytes message);

 private:
  Bytes external_bytes(const Tensor& tensor, const std::vector<Bytes>& entries);

  Model& model_;
  const Origin& origin_;
  std::optional<std::filesystem::path> folder_;
};

// The values of a tensor in the layout of raw_data, wherever and however the file holds them.

// A view of a tensor's values. Usually of the mapped file; of a copy inside when the file spells the
// values out one by one (int32_data of float16, say). Not for strings or Computed tensors.
class RawValues {
 public:
  explicit RawValues(const Tensor& tensor);
  RawValues(const RawValues&) = delete;
  RawValues& operator=(const RawValues&) = delete;

  Bytes bytes() const { return bytes_; }

 private:
  std::string decoded_;
  Bytes bytes_;
};

// The values of an Encoded tensor in raw layout.
std::string decode_to_raw(const Tensor& tensor);
// Adds the string_data fields of a tensor of strings.
void append_string_fields(const Tensor& tensor, CarriedFields& fields);

// The field of TensorProto that holds the values of an element type when they are not raw.

struct TypedField {
  TensorField field;
  int per_entry;  // elements in one entry of the field; complex numbers take two entries: 0
};
TypedField typed_field_of(ElementType type);

}  // namespace ounce::onnx
