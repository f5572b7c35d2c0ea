// Weight files: a header of 64 bytes, then blobs, each with a description of 64 bytes in front of its values.
//
//   header        u32 count, u32 version 2, zeros
//   description   u32 0xDEADBEEF, u32 type, u64 size, u64 offset of the values, u64 unused bits, zeros
//
// Descriptions are at multiples of 64. The unused bits of the last byte count for types of fewer than 8 bits
// only: other writers have left the field uninitialized.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

inline constexpr std::uint64_t kBlobAlignment = 64;

struct StoredBlob {
  std::uint64_t begin = 0;  // of the description …
  std::uint64_t data = 0;   // … and of the values
  Bytes bytes;
};

// The header of a weight file. Throws Error{kBadInput}; `name` is how to call the file.
void check_weight_header(Bytes file, const std::string& name);

// The blob whose description is at `offset`, for values of this type. Throws Error{kBadInput}.
StoredBlob read_blob(Bytes file, const std::string& name, std::uint64_t offset, const ValueType& type);

// No two of the blobs share a byte unless they are the same one.
void require_apart(const std::map<std::uint64_t, StoredBlob>& blobs, const std::string& name);

std::string weight_header(std::uint32_t count);
// For `values` of a type at `offset`, where the description is written.
std::string blob_description(const ValueType& type, std::uint64_t size, std::uint64_t offset);
inline std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
}

}  // namespace ounce::coreml
