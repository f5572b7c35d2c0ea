#include "data/containers/pb_tensor.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "data/tensor.h"
#include "formats/onnx/file/cursor.h"
#include "formats/onnx/file/tensor_reader.h"
#include "io/mapped_file.h"

namespace ounce::data {
namespace {

// Protobuf's own limit; our wire format library counts in 32 bits as well.
constexpr std::uint64_t kLargestMessage = INT32_MAX;

void refuse_external_data(const onnx::Origin& origin) {
  onnx::Cursor cursor(origin.bytes, origin, "TensorProto");
  while (cursor.next()) {
    if (cursor.field<onnx::TensorField>() != onnx::TensorField::kDataLocation) {
      cursor.skip();
    } else if (cursor.integer() == 1) {
      throw Error(ErrorCode::kBadInput, "keeps its values in another file; save it with its values inside");
    }
  }
}

std::vector<std::string> strings_of(const onnx::Origin& origin) {
  std::vector<std::string> strings;
  onnx::Cursor cursor(origin.bytes, origin, "TensorProto");
  while (cursor.next()) {
    if (cursor.field<onnx::TensorField>() == onnx::TensorField::kStringData) {
      strings.emplace_back(cursor.bytes());
    } else {
      cursor.skip();
    }
  }
  return strings;
}

NamedTensor read_message(const onnx::Origin& origin) {
  refuse_external_data(origin);
  onnx::Model model;  // keeps nothing here: the values are inside the message
  const auto read = onnx::TensorReader(model, origin, std::nullopt).read(origin.bytes);
  NamedTensor named{std::string(read->name), {read->type, read->dims, {}, {}}};
  if (read->type == ElementType::kString) {
    named.tensor.strings = strings_of(origin);
  } else {
    named.tensor.bytes = onnx::RawValues(*read).bytes();
  }
  if (read->type == ElementType::kBool) make_bools_valid(named.tensor.bytes);
  return named;
}

}  // namespace

NamedTensor read_pb_tensor(std::string_view bytes, const std::string& where) {
  if (bytes.empty()) throw Error(ErrorCode::kBadInput, "is empty", where);
  if (bytes.size() > kLargestMessage) throw Error(ErrorCode::kBadInput, "is larger than 2 GiB", where);
  try {
    return read_message({bytes, "tensor"});
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), where);  // now with the file's name
  }
}

NamedTensor read_pb_tensor(const std::filesystem::path& path) {
  return read_pb_tensor(io::MappedFile::open(path).bytes(), path.string());
}

}  // namespace ounce::data
