#include "formats/onnx/file/message_writer.h"

#include <protozero/buffer_string.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>

#include <algorithm>
#include <iterator>

#include "base/cancel.h"

namespace ounce::onnx {
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

void MessageWriter::message_field(std::uint32_t number, Rope&& rope) {
  count_step();
  add_prefix(number, rope.size());
  rope_.append(std::move(rope));
}

Rope MessageWriter::finish() {
  carry_below(UINT32_MAX);
  return std::move(rope_);
}

namespace {
constexpr std::size_t kCopyBelow = 4096;
}

void Rope::append(Bytes bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  if (bytes.size() >= kCopyBelow) {
    pieces_.emplace_back(bytes);
  } else if (auto* text = pieces_.empty() ? nullptr : std::get_if<std::string>(&pieces_.back())) {
    text->append(bytes);
  } else {
    pieces_.emplace_back(std::string(bytes));
  }
}

void Rope::append(std::string&& bytes) {
  if (bytes.size() < kCopyBelow) return append(Bytes(bytes));
  size_ += bytes.size();
  pieces_.emplace_back(std::move(bytes));
}

void Rope::append(Computed computed) {
  size_ += computed.size;
  pieces_.emplace_back(std::move(computed));
}

void Rope::append(Rope&& other) {
  for (Piece& piece : other.pieces_) {
    if (const auto* text = std::get_if<std::string>(&piece); text != nullptr && text->size() < kCopyBelow) {
      append(Bytes(*text));
    } else {
      size_ += size_of(piece);
      pieces_.push_back(std::move(piece));
    }
  }
}

std::uint64_t Rope::size_of(const Piece& piece) {
  if (const auto* text = std::get_if<std::string>(&piece)) return text->size();
  if (const auto* bytes = std::get_if<Bytes>(&piece)) return bytes->size();
  return std::get<Computed>(piece).size;
}

}  // namespace ounce::onnx
