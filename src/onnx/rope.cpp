#include "onnx/rope.h"

#include <iterator>

namespace ounce::onnx {
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
