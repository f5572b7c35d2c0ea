#include "formats/onnx/file/tensor_reader.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

#include "base/numbers.h"

namespace ounce::onnx {
namespace {

// The fields of a tensor message, before their consistency is checked.
struct Found {
  Bytes raw;
  std::optional<TensorField> typed;  // the typed field that has values
  std::uint64_t entries = 0;         // how many it has
  std::optional<Bytes> packed;       // the last piece of it
  bool is_one_piece = false;
  std::optional<std::int64_t> type_number;
  std::int64_t location = 0;
  std::vector<Bytes> external;
};

int fixed_width(TensorField field) {
  switch (field) {
    case TensorField::kFloatData: return 4;
    case TensorField::kDoubleData: return 8;
    default: return 0;
  }
}

void take_typed(Cursor& cursor, Found& found) {
  const auto field = cursor.field<TensorField>();
  Cursor::Entries entries{1, {}};
  if (field == TensorField::kStringData) {
    cursor.bytes();
  } else {
    entries = cursor.entries(fixed_width(field));
  }
  if (entries.count == 0) return;
  if (found.typed && *found.typed != field) cursor.fail("a tensor has values in two different fields");
  found.typed = field;
  found.entries += entries.count;
  found.is_one_piece = !found.packed && entries.packed.data() != nullptr;
  found.packed = entries.packed;
}

void check_dims(const std::vector<std::int64_t>& dims, const Tensor& tensor) {
  std::uint64_t count = 1;
  bool has_zero = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0) fail(tensor, fmt::format("dimension {} is negative", dim));
    has_zero |= dim == 0;
  }
  if (has_zero) return;
  for (const std::int64_t dim : dims) {
    const auto product = checked_multiply(count, static_cast<std::uint64_t>(dim));
    if (!product || *product > (std::uint64_t{1} << 58))
      fail(tensor, "the product of the dimensions overflows");
    count = *product;
  }
}

std::uint64_t expected_entries(const Tensor& tensor) {
  const auto per_entry = static_cast<std::uint64_t>(typed_field_of(tensor.type).per_entry);
  const std::uint64_t count = tensor.element_count();
  return per_entry == 0 ? count * 2 : (count + per_entry - 1) / per_entry;
}

void take_inline_values(Tensor& tensor, const Found& found, Bytes message) {
  if (found.raw.data() != nullptr && found.typed) fail(tensor, "has both raw data and a typed data field");
  const TensorField field = typed_field_of(tensor.type).field;
  if (found.raw.data() != nullptr) {
    if (tensor.type == ElementType::kString) fail(tensor, "strings cannot be raw data");
    if (found.raw.size() != tensor.byte_count()) {
      fail(tensor, fmt::format("has {} bytes of raw data where its shape and type need {}", found.raw.size(),
                               tensor.byte_count()));
    }
    tensor.data = Borrowed{found.raw};
    return;
  }
  if (found.typed && *found.typed != field) {
    fail(tensor, fmt::format("of type {} has its values in the wrong field ({})", name_of(tensor.type),
                             static_cast<int>(*found.typed)));
  }
  if (found.entries != expected_entries(tensor)) {
    fail(tensor,
         fmt::format("has {} values where its shape needs {}", found.entries, expected_entries(tensor)));
  }
  const bool has_raw_layout = fixed_width(field) != 0 && found.is_one_piece;
  if (has_raw_layout || found.entries == 0) {
    tensor.data = Borrowed{found.packed.value_or(Bytes())};
  } else {
    tensor.data = Encoded{field, message};
  }
}

// Checks the positions of a sparse tensor's values: linear indices, or one index for each dimension. Code
// that expands the values writes to these positions.
void check_indices(const SparseTensor& sparse) {
  const Tensor& indices = *sparse.indices;
  const auto refuse = [&](const std::string& what) { fail(*sparse.values, what); };
  const bool is_counted = indices.dims.size() == 1;
  if (!is_counted && (indices.dims.size() != 2 || indices.dims[1] != std::ssize(sparse.dims)))
    refuse("has sparse indices whose shape does not match its own");
  if (static_cast<std::uint64_t>(indices.dims[0]) != sparse.values->element_count())
    refuse(
        fmt::format("has {} sparse indices for {} values", indices.dims[0], sparse.values->element_count()));
  std::vector<std::int64_t> ends = sparse.dims;
  if (is_counted) {
    const bool is_empty = std::find(sparse.dims.begin(), sparse.dims.end(), 0) != sparse.dims.end();
    ends = {is_empty ? 0 : 1};
    for (const std::int64_t dim : sparse.dims) ends[0] *= is_empty ? 1 : dim;
  }
  const RawValues raw(indices);
  for (std::size_t i = 0; i < raw.bytes().size() / sizeof(std::int64_t); ++i) {
    std::int64_t index = 0;
    std::memcpy(&index, raw.bytes().data() + i * sizeof index, sizeof index);
    if (index < 0 || index >= ends[i % ends.size()])
      refuse(fmt::format("has the sparse index {}, which lies outside of it", index));
  }
}

}  // namespace

Kept<Tensor> TensorReader::read(Bytes message) {
  Tensor tensor;
  Found found;
  Cursor cursor(message, origin_, "TensorProto");
  while (cursor.next()) {
    switch (cursor.field<TensorField>()) {
      case TensorField::kDims: cursor.integers(tensor.dims); break;
      case TensorField::kDataType: found.type_number = cursor.integer(); break;
      case TensorField::kName: cursor.once_name(tensor.name); break;
      case TensorField::kRawData: cursor.once(found.raw); break;
      case TensorField::kFloatData:
      case TensorField::kInt32Data:
      case TensorField::kStringData:
      case TensorField::kInt64Data:
      case TensorField::kDoubleData:
      case TensorField::kUint64Data: take_typed(cursor, found); break;
      case TensorField::kExternalData: found.external.push_back(cursor.bytes()); break;
      case TensorField::kDataLocation: found.location = cursor.integer(); break;
      case TensorField::kSegment: cursor.fail("tensors in segments are not supported"); break;
      default: cursor.carry(tensor.carried);
    }
  }
  const auto type = element_type_of(found.type_number.value_or(0));
  if (!type) fail(tensor, fmt::format("has the unknown element type {}", found.type_number.value_or(0)));
  tensor.type = *type;
  check_dims(tensor.dims, tensor);
  if (found.location == 1) {
    if (found.raw.data() != nullptr || found.typed) fail(tensor, "has both external and inline data");
    if (tensor.type == ElementType::kString) fail(tensor, "strings cannot be external data");
    tensor.data = Borrowed{external_bytes(tensor, found.external)};
    tensor.is_external = true;
  } else if (found.location == 0) {
    if (!found.external.empty()) fail(tensor, "references external data but declares inline data");
    take_inline_values(tensor, found, message);
  } else {
    fail(tensor, fmt::format("has the unknown data location {}", found.location));
  }
  return {std::move(tensor), message};
}

Bytes TensorReader::external_bytes(const Tensor& tensor, const std::vector<Bytes>& entries) {
  const ExternalReference reference = read_external_reference(entries, origin_, tensor);
  if (!folder_) fail(tensor, "has external data, but this model has no folder");
  check_external_location(reference.location, tensor);
  auto file = model_.external_files.find(reference.location);
  if (file == model_.external_files.end()) {
    file =
        model_.external_files.emplace(reference.location, open_external(*folder_, reference.location, tensor))
            .first;
  }
  const Bytes bytes = file->second.bytes();
  const std::uint64_t size = tensor.byte_count();
  if (reference.length && *reference.length != size) {
    fail(tensor, fmt::format("has {} bytes of external data where its shape and type need {}",
                             *reference.length, size));
  }
  if (reference.offset > bytes.size() || size > bytes.size() - reference.offset) {
    fail(tensor, fmt::format("reaches past the end of '{}' ({} bytes at {}, the file has {})",
                             reference.location, size, reference.offset, bytes.size()));
  }
  return bytes.substr(reference.offset, size);
}

Kept<SparseTensor> TensorReader::read_sparse(Bytes message) {
  SparseTensor sparse;
  Bytes values, indices;
  Cursor cursor(message, origin_, "SparseTensorProto");
  while (cursor.next()) {
    switch (cursor.field<SparseTensorField>()) {
      case SparseTensorField::kValues: cursor.once(values); break;
      case SparseTensorField::kIndices: cursor.once(indices); break;
      case SparseTensorField::kDims: cursor.integers(sparse.dims); break;
      default: cursor.carry(sparse.carried);
    }
  }
  if (values.data() == nullptr || indices.data() == nullptr)
    cursor.fail("a sparse tensor has no values or indices");
  sparse.values = read(values);
  sparse.indices = read(indices);
  if (sparse.indices->type != ElementType::kInt64)
    fail(*sparse.values, "has sparse indices that are not int64");
  check_dims(sparse.dims, *sparse.values);
  check_indices(sparse);
  return {std::move(sparse), message};
}

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Raw data is little-endian; of an int32 or int64 entry only the lower bytes belong to the element.
void append_entry(std::string& raw, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) raw += static_cast<char>(value >> (8 * i));
}

// Six-bit floats have one entry each in typed fields but are packed in raw data.
std::string pack_six_bits(const std::string& entries) {
  std::string raw;
  std::uint32_t buffer = 0, bits = 0;
  for (const char entry : entries) {
    buffer |= (static_cast<std::uint32_t>(static_cast<unsigned char>(entry)) & 0x3fU) << bits;
    bits += 6;
    for (; bits >= 8; bits -= 8, buffer >>= 8U) raw += static_cast<char>(buffer & 0xffU);
  }
  if (bits != 0) raw += static_cast<char>(buffer & 0xffU);
  return raw;
}

std::size_t entry_width(const Tensor& tensor) {
  const auto& info = info_of(tensor.type);
  if (typed_field_of(tensor.type).per_entry == 0)
    return static_cast<std::size_t>(info.bits) / 16;  // a complex number has two entries
  return info.bits < 8 ? 1 : static_cast<std::size_t>(info.bits) / 8;
}

// The reader has checked the field's structure, so this cannot fail.
void append_field(pbf_reader& reader, std::string& raw, TensorField field, std::size_t width) {
  const bool is_fixed = field == TensorField::kFloatData || field == TensorField::kDoubleData;
  if (reader.wire_type() == pbf_wire_type::length_delimited) {
    if (is_fixed) {
      const auto packed = reader.get_view();
      raw.append(packed.data(), packed.size());
      return;
    }
    for (const std::uint64_t value : reader.get_packed_uint64()) append_entry(raw, value, width);
  } else if (reader.wire_type() == pbf_wire_type::fixed32) {
    append_entry(raw, reader.get_fixed32(), width);
  } else if (reader.wire_type() == pbf_wire_type::fixed64) {
    append_entry(raw, reader.get_fixed64(), width);
  } else {
    append_entry(raw, reader.get_uint64(), width);
  }
}

}  // namespace

std::string decode_to_raw(const Tensor& tensor) {
  const auto& encoded = std::get<Encoded>(tensor.data);
  std::string raw;
  raw.reserve(tensor.byte_count());
  pbf_reader reader(encoded.tensor_message.data(), encoded.tensor_message.size());
  while (reader.next()) {
    if (reader.tag() == static_cast<std::uint32_t>(encoded.field)) {
      append_field(reader, raw, encoded.field, entry_width(tensor));
    } else {
      reader.skip();
    }
  }
  if (info_of(tensor.type).bits == 6) raw = pack_six_bits(raw);
  if (raw.size() != tensor.byte_count()) {
    throw Error(ErrorCode::kBadInput, "the number of its values does not match its shape",
                "tensor '" + std::string(tensor.name) + "'");
  }
  return raw;
}

void append_string_fields(const Tensor& tensor, CarriedFields& fields) {
  const auto* encoded = std::get_if<Encoded>(&tensor.data);
  if (encoded == nullptr) return;  // no elements
  pbf_reader reader(encoded->tensor_message.data(), encoded->tensor_message.size());
  while (true) {
    const char* start = reader.data().data();
    if (!reader.next()) break;
    const std::uint32_t number = reader.tag();
    reader.skip();
    if (number == static_cast<std::uint32_t>(TensorField::kStringData)) {
      fields.push_back({number, {start, static_cast<std::size_t>(reader.data().data() - start)}});
    }
  }
}

RawValues::RawValues(const Tensor& tensor) {
  if (const auto* borrowed = std::get_if<Borrowed>(&tensor.data)) {
    bytes_ = borrowed->bytes;
  } else if (const auto* owned = std::get_if<Owned>(&tensor.data)) {
    bytes_ = *owned->bytes;
  } else if (std::holds_alternative<Encoded>(tensor.data)) {
    decoded_ = decode_to_raw(tensor);
    bytes_ = decoded_;
  } else {
    throw Error(ErrorCode::kInternal, "values were read before they were computed",
                "tensor '" + std::string(tensor.name) + "'");
  }
}

TypedField typed_field_of(ElementType type) {
  using enum ElementType;
  using enum TensorField;
  switch (type) {
    case kUndefined: return {kRawData, 1};
    case kFloat: return {kFloatData, 1};
    case kInt64: return {kInt64Data, 1};
    case kString: return {kStringData, 1};
    case kDouble: return {kDoubleData, 1};
    case kUint32:
    case kUint64: return {kUint64Data, 1};
    case kComplex64: return {kFloatData, 0};
    case kComplex128: return {kDoubleData, 0};
    case kUint4:
    case kInt4:
    case kFloat4E2M1: return {kInt32Data, 2};
    case kUint2:
    case kInt2: return {kInt32Data, 4};
    default: return {kInt32Data, 1};
  }
}

namespace {

std::uint64_t number(Bytes text, const char* what, const Tensor& tensor) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(tensor, fmt::format("its external data's {} is not a number", what));
  }
  return value;
}

// For messages only: a hostile location may contain any characters.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 100)) {
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return result;
}

}  // namespace

ExternalReference read_external_reference(const std::vector<Bytes>& entries, const Origin& origin,
                                          const Tensor& tensor) {
  std::optional<Bytes> location, offset, length;
  const auto once = [&](std::optional<Bytes>& known, Bytes value, const char* what) {
    if (known) fail(tensor, fmt::format("names two {} for its external data", what));
    known = value;
  };
  for (const Bytes entry : entries) {
    Bytes key, value;
    Cursor cursor(entry, origin, "StringStringEntryProto");
    while (cursor.next()) {
      switch (cursor.field<EntryField>()) {
        case EntryField::kKey: cursor.once(key); break;
        case EntryField::kValue: cursor.once(value); break;
        default: cursor.skip();
      }
    }
    if (key == "location") once(location, value, "files");
    if (key == "offset") once(offset, value, "offsets");
    if (key == "length") once(length, value, "lengths");
  }
  if (!location) fail(tensor, "has external data but names no file");
  ExternalReference reference;
  reference.location = *location;
  if (offset) reference.offset = number(*offset, "offset", tensor);
  if (length) reference.length = number(*length, "length", tensor);
  return reference;
}

void check_external_location(const std::string& location, const Tensor& tensor) {
  const auto refuse = [&](const char* why) {
    fail(tensor, fmt::format("its external file '{}' {}; it must be in the model's folder",
                             printable(location), why));
  };
  if (location.starts_with("*/_ORT_")) refuse("is a marker for a memory address, not a file");
  if (location.empty()) refuse("has no name");
  if (std::any_of(location.begin(), location.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    refuse("contains control characters");
  }
  if (location.find('\\') != std::string::npos) refuse("contains a backslash");
  if (location.front() == '/') refuse("is an absolute path");
  if (location.size() >= 2 && location[1] == ':') refuse("names a drive");
  for (const auto& part : std::filesystem::path(location)) {
    if (part == "..") refuse("contains '..'");
  }
}

io::MappedFile open_external(const std::filesystem::path& folder, const std::string& location,
                             const Tensor& tensor) {
  try {
    return io::MappedFile::open_beneath(folder, location);
  } catch (const Error& error) {
    // A model without its data is invalid. If the data exists but cannot be opened (no memory, too many
    // files), it is an I/O error.
    std::error_code ignored;
    const bool is_there =
        error.code() == ErrorCode::kIo && std::filesystem::is_regular_file(folder / location, ignored);
    throw Error(is_there ? ErrorCode::kIo : ErrorCode::kBadInput, error.what(),
                fmt::format("tensor '{}'", tensor.name));
  }
}

}  // namespace ounce::onnx
