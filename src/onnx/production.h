// Tensor bytes that are computed while the output file is being written.
//
// One Production reads its source once and makes several tensors of it (codes and scales, say).
// Their sizes are known beforehand, so the writer can lay out the file first and let productions
// fill their places in any order and on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/jobs.h"

namespace ounce::onnx {

// Where one tensor of a production goes.
class Place {
 public:
  using Write = std::function<void(std::uint64_t offset, std::string_view bytes)>;
  Place() = default;
  explicit Place(Write write) : write_(std::move(write)) {}
  void write(std::uint64_t offset, std::string_view bytes) const { write_(offset, bytes); }

 private:
  Write write_;
};

class Production {
 public:
  Production() = default;
  Production(const Production&) = delete;
  Production& operator=(const Production&) = delete;
  virtual ~Production() = default;

  virtual std::uint64_t source_bytes() const = 0;  // how much it reads: large ones get all threads
  // Writes every byte of every part exactly once.
  virtual void run(std::span<const Place> parts, const ForEach& for_each) const = 0;
};

struct Computed {
  std::shared_ptr<const Production> by;
  std::size_t part = 0;
  std::uint64_t size = 0;
};

}  // namespace ounce::onnx
