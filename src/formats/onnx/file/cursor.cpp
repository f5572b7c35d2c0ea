#include "formats/onnx/file/cursor.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "base/cancel.h"

namespace ounce::onnx {
namespace {

const char* explain(const std::exception& error) {
  if (dynamic_cast<const protozero::end_of_buffer_exception*>(&error))
    return "a field reaches past the end of its message";
  if (dynamic_cast<const protozero::varint_too_long_exception*>(&error))
    return "a number is longer than 10 bytes";
  if (dynamic_cast<const protozero::unknown_pbf_wire_type_exception*>(&error)) return "unknown wire type";
  if (dynamic_cast<const protozero::invalid_tag_exception*>(&error)) return "field number 0 or out of range";
  if (dynamic_cast<const protozero::invalid_length_exception*>(&error))
    return "a packed field has a broken length";
  return "malformed";
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

Cursor::Cursor(Bytes message, const Origin& origin, const char* message_name)
    : reader_(message.data(), message.size()),
      origin_(&origin),
      message_name_(message_name),
      field_start_(message.data()) {}

void Cursor::fail(const std::string& what) const {
  throw Error(ErrorCode::kBadInput, fmt::format("not a valid ONNX file: {} ({})", what, message_name_),
              fmt::format("{}, byte {}", origin_->name, offset_of(field_start_)));
}

std::uint64_t Cursor::offset_of(const char* position) const {
  return static_cast<std::uint64_t>(position - origin_->bytes.data());
}

template <class Function>
auto Cursor::guarded(Function&& function) const {
  try {
    return function();
  } catch (const protozero::exception& error) {
    fail(explain(error));
  }
}

void Cursor::expect(protozero::pbf_wire_type type) const {
  if (reader_.wire_type() != type) fail(fmt::format("field {} has the wrong wire type", number_));
}

// protozero uses only the lower 32 bits of tags and lengths. The file stores 64 bits, so check all of them.
void Cursor::check_prefix(const char* end) const {
  guarded([&] {
    const char* position = field_start_;
    if (protozero::decode_varint(&position, end) > UINT32_MAX) throw protozero::invalid_tag_exception();
    if (!is_length_delimited()) return;
    const std::uint64_t length = protozero::decode_varint(&position, end);
    if (length > static_cast<std::uint64_t>(end - position)) throw protozero::end_of_buffer_exception();
  });
}

bool Cursor::next() {
  count_step();
  const auto rest = reader_.data();
  field_start_ = rest.data();
  if (!guarded([&] { return reader_.next(); })) return false;
  number_ = reader_.tag();
  check_prefix(rest.data() + rest.size());
  return true;
}

bool Cursor::is_length_delimited() const {
  return reader_.wire_type() == protozero::pbf_wire_type::length_delimited;
}

Bytes Cursor::bytes() {
  expect(protozero::pbf_wire_type::length_delimited);
  const auto view = guarded([&] { return reader_.get_view(); });
  return {view.data(), view.size()};
}

std::int64_t Cursor::integer() {
  expect(protozero::pbf_wire_type::varint);
  return guarded([&] { return reader_.get_int64(); });
}

void Cursor::once(Bytes& value) {
  if (value.data() != nullptr) fail(fmt::format("field {} appears twice", number_));
  value = bytes();
}

Bytes Cursor::name() {
  const Bytes text = bytes();
  if (std::any_of(text.begin(), text.end(), is_control)) fail("a name contains control characters");
  return text;
}

void Cursor::once_name(Bytes& value) {
  if (value.data() != nullptr) fail(fmt::format("field {} appears twice", number_));
  value = name();
}

void Cursor::integers(std::vector<std::int64_t>& values) {
  if (!is_length_delimited()) {
    values.push_back(integer());
    return;
  }
  guarded([&] {
    for (const std::int64_t value : reader_.get_packed_int64()) values.push_back(value);
  });
}

Cursor::Entries Cursor::entries(int fixed_width) {
  if (!is_length_delimited()) {
    expect(fixed_width == 4   ? protozero::pbf_wire_type::fixed32
           : fixed_width == 8 ? protozero::pbf_wire_type::fixed64
                              : protozero::pbf_wire_type::varint);
    skip();
    return {1, {}};
  }
  const Bytes packed = bytes();
  if (fixed_width != 0) {
    if (packed.size() % static_cast<std::size_t>(fixed_width) != 0)
      fail("a packed field has a broken length");
    return {packed.size() / static_cast<std::size_t>(fixed_width), packed};
  }
  std::uint64_t count = 0;
  int length = 0;
  for (const char byte : packed) {
    if (++length > 10) fail("a number is longer than 10 bytes");
    if (static_cast<unsigned char>(byte) < 0x80) {
      ++count;
      length = 0;
    }
  }
  if (length != 0) fail("a packed field has a broken length");
  return {count, packed};
}

void Cursor::skip() {
  guarded([&] { reader_.skip(); });
}

void Cursor::carry(CarriedFields& fields) {
  skip();
  const char* end = reader_.data().data();
  fields.push_back({number_, {field_start_, static_cast<std::size_t>(end - field_start_)}});
}

}  // namespace ounce::onnx
