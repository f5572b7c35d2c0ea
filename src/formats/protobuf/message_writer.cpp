#include "formats/protobuf/message_writer.h"

#include <protozero/buffer_string.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>

#include <algorithm>
#include <string>

#include "base/cancel.h"

namespace ounce::protobuf {
namespace {

std::string tag(std::uint32_t number, protozero::pbf_wire_type type) {
  std::string bytes;
  protozero::add_varint_to_buffer(&bytes, (std::uint64_t{number} << 3U) | static_cast<std::uint64_t>(type));
  return bytes;
}

}  // namespace

MessageWriter::MessageWriter(const CarriedFields& carried) : carried_(carried) {
  std::stable_sort(carried_.begin(), carried_.end(),
                   [](const CarriedField& a, const CarriedField& b) { return a.number < b.number; });
}

void MessageWriter::carry_below(std::uint32_t number) {
  while (next_carried_ < carried_.size() && carried_[next_carried_].number < number) {
    rope_.append(carried_[next_carried_++].bytes);
  }
}

void MessageWriter::add_prefix(std::uint32_t number, std::uint64_t size) {
  carry_below(number);
  std::string prefix = tag(number, protozero::pbf_wire_type::length_delimited);
  protozero::add_varint_to_buffer(&prefix, size);
  rope_.append(Bytes(prefix));
}

void MessageWriter::bytes_field(std::uint32_t number, Bytes value) {
  add_prefix(number, value.size());
  rope_.append(value);
}

void MessageWriter::integer_field(std::uint32_t number, std::int64_t value) {
  carry_below(number);
  std::string bytes = tag(number, protozero::pbf_wire_type::varint);
  protozero::add_varint_to_buffer(&bytes, static_cast<std::uint64_t>(value));
  rope_.append(Bytes(bytes));
}

void MessageWriter::message_field(std::uint32_t number, io::Rope&& rope) {
  count_step();
  add_prefix(number, rope.size());
  rope_.append(std::move(rope));
}

io::Rope MessageWriter::finish() {
  carry_below(UINT32_MAX);
  return std::move(rope_);
}

}  // namespace ounce::protobuf
