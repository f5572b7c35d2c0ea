// Weight files: a header of 64 bytes, then blobs, each with a description of 64 bytes before its values.
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
  std::uint64_t begin = 0;  // of the description
  std::uint64_t data = 0;   // of the values
  Bytes bytes;
};

// Checks the header of a weight file. Throws Error{kBadInput}. `name` names the file in messages.
void check_weight_header(Bytes file, const std::string& name);

// Reads the blob with values of this type whose description is at `offset`. Throws Error{kBadInput}.
StoredBlob read_blob(Bytes file, const std::string& name, std::uint64_t offset, const ValueType& type);

// Throws Error{kBadInput} if two different blobs overlap.
void require_apart(const std::map<std::uint64_t, StoredBlob>& blobs, const std::string& name);

std::string weight_header(std::uint32_t count);
// Creates the description at `offset` for values of this type and size.
std::string blob_description(const ValueType& type, std::uint64_t size, std::uint64_t offset);
inline std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
}

}  // namespace ounce::coreml
