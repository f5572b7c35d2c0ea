// A message on its way to the file: a sequence of pieces whose sizes are all known before any
// weight is touched. Structure is copied into small strings; weights stay where they are.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/message.h"
#include "onnx/production.h"

namespace ounce::onnx {

class Rope {
 public:
  using Piece = std::variant<std::string, Bytes, Computed>;

  std::uint64_t size() const { return size_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

  void append(Bytes bytes);  // copied if small, referred to if large
  void append(std::string&& bytes);
  void append(Computed computed);
  void append(Rope&& other);

  static std::uint64_t size_of(const Piece& piece);

 private:
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
};

}  // namespace ounce::onnx
