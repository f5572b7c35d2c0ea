// Reads TensorProto and SparseTensorProto, inline or with external data.
#pragma once

#include <fmt/format.h>
#include <ounce/error.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/element_type.h"
#include "formats/onnx/file/cursor.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/schema.h"
#include "io/mapped_file.h"

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

// Tensor bytes in other files: what a reference says, and which paths a model may name.
//
// A model may only name files in its own folder or below: no absolute path, no "..", no drive, no
// backslash, no symbolic link that leads out, and none of the runtime's in-memory markers, which
// would make a loader read from an address of the attacker's choice.

struct ExternalReference {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

// All of these throw Error{kBadInput} that names the tensor.
ExternalReference read_external_reference(const std::vector<Bytes>& entries, const Origin& origin,
                                          const Tensor& tensor);
void check_external_location(const std::string& location, const Tensor& tensor);
io::MappedFile open_external(const std::filesystem::path& folder, const std::string& location,
                             const Tensor& tensor);

// What is wrong with a tensor of a file, said with the tensor's name.

// Throws Error{kBadInput}.
[[noreturn]] inline void fail(const Tensor& tensor, const std::string& what) {
  throw Error(ErrorCode::kBadInput, what, fmt::format("tensor '{}'", tensor.name));
}

}  // namespace ounce::onnx
