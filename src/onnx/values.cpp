#include "onnx/values.h"
#include "onnx/typed_field.h"

#include <ounce/error.h>

#include <protozero/pbf_reader.hpp>

namespace ounce::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Entries are little-endian in raw data; of an int32 or int64 only the bytes of the element count.
void append_entry(std::string& raw, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) raw += static_cast<char>(value >> (8 * i));
}

// Six-bit floats come one an entry but stand packed in raw data.
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

// The reader has checked the field's structure, so this cannot throw on its account.
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
    throw Error(ErrorCode::kBadInput, "its values do not fill its shape",
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
    throw Error(ErrorCode::kInternal, "values that are not computed yet were read",
                "tensor '" + std::string(tensor.name) + "'");
  }
}

}  // namespace ounce::onnx
