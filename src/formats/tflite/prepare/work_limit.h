// Limits the bytes of the constants that passes make in memory.
//
// A hostile file may declare gigabytes in a few bytes, or use one constant in thousands of operators that
// each need another form of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

class WorkLimit {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  // The reason for nodes that are left unchanged because of the limit.
  static constexpr const char* kReason = "the constants that are made would take many times the file's size";

  // A multiple of the size of the model: sparse weights of a tenth of the values are the smallest that
  // converters write.
  explicit WorkLimit(const Model& model) {
    constexpr std::uint64_t kMostExpansion = 16, kFree = std::uint64_t{1} << 20;
    std::uint64_t bytes = 0;
    for (const Buffer& buffer : model.buffers)
      bytes += std::min(buffer.data.size(), kAll / kMostExpansion - bytes);
    left_ = std::min(bytes, (kAll - kFree) / kMostExpansion) * kMostExpansion + kFree;
  }

  // Takes `bytes` from the limit. Returns false, and takes nothing, if fewer are left.
  bool take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::uint64_t left_ = 0;
};

}  // namespace ounce::tflite
