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
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/schema.h"
#include "io/mapped_file.h"

namespace ounce::onnx {

class TensorReader {
 public:
  // Rejects external data if there is no folder.
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

// The values of a tensor in the layout of raw_data, independent of their storage in the file.

// A view of a tensor's values: of the mapped file, or of an internal copy if the file uses typed fields (such
// as int32_data for float16). Not for strings or Computed tensors.
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

// Converts the values of an Encoded tensor to the layout of raw_data.
std::string decode_to_raw(const Tensor& tensor);
// Appends the string_data fields of a string tensor.
void append_string_fields(const Tensor& tensor, CarriedFields& fields);

// The TensorProto field for values of an element type that are not in raw_data.

struct TypedField {
  TensorField field;
  int per_entry;  // elements per entry of the field; 0 for complex numbers, which take two entries
};
TypedField typed_field_of(ElementType type);

// Tensor data in external files: parses references and checks their paths.
//
// A model may only reference files in its own folder or below: no absolute paths, "..", drives, backslashes,
// symbolic links that lead outside, or the runtime's in-memory markers, which would let an attacker choose
// the address that a loader reads from.

struct ExternalReference {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

// These functions throw Error{kBadInput} that names the tensor.
ExternalReference read_external_reference(const std::vector<Bytes>& entries, const Origin& origin,
                                          const Tensor& tensor);
void check_external_location(const std::string& location, const Tensor& tensor);
io::MappedFile open_external(const std::filesystem::path& folder, const std::string& location,
                             const Tensor& tensor);

// Reports an error in a tensor of the file, with the tensor's name.

// Throws Error{kBadInput}.
[[noreturn]] inline void fail(const Tensor& tensor, const std::string& what) {
  throw Error(ErrorCode::kBadInput, what, fmt::format("tensor '{}'", tensor.name));
}

}  // namespace ounce::onnx
