#include "formats/coreml/file/blobs.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <cstring>

namespace ounce::coreml {
namespace {

constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kSentinel = 0xDEADBEEF;

struct Header {
  std::uint32_t count = 0, version = kVersion;
  std::array<std::uint64_t, 7> reserved = {};
};
static_assert(sizeof(Header) == kBlobAlignment);

struct BlobHeader {
  std::uint32_t sentinel = kSentinel, type = 0;
  std::uint64_t size = 0, offset = 0, unused_bits = 0;
  std::array<std::uint64_t, 4> reserved = {};
};
static_assert(sizeof(BlobHeader) == kBlobAlignment);

[[noreturn]] void refuse(const std::string& what, const std::string& name, std::uint64_t offset) {
  throw Error(ErrorCode::kBadInput, "not a valid weight file: " + what,
              fmt::format("{}, byte {}", name, offset));
}

template <class T>
std::string bytes_of(const T& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

}  // namespace

void check_weight_header(Bytes file, const std::string& name) {
  Header header;
  if (file.size() < sizeof header) refuse("it is too short", name, 0);
  std::memcpy(&header, file.data(), sizeof header);
  if (header.version != kVersion) refuse(fmt::format("unknown version {}", header.version), name, 4);
}

StoredBlob read_blob(Bytes file, const std::string& name, std::uint64_t offset, const ValueType& type) {
  BlobHeader header;
  if (offset < sizeof(Header) || offset > file.size() || file.size() - offset < sizeof header)
    refuse("a blob is outside of the file", name, offset);
  if (offset % kBlobAlignment != 0) refuse("a blob does not begin at a multiple of 64", name, offset);
  std::memcpy(&header, file.data() + offset, sizeof header);
  if (header.sentinel != kSentinel) refuse("no blob begins at this offset of the model", name, offset);
  const DataTypeInfo& row = info_of(type.type);
  if (row.blob == 0 || header.type != row.blob)
    refuse(fmt::format("a blob has type {}, but the model declares {}", header.type, row.name), name, offset);
  if (header.offset < offset + sizeof header || header.offset > file.size() ||
      header.size > file.size() - header.offset)
    refuse("the values of a blob are outside of the file", name, offset);
  const auto wanted = type.byte_count();
  if (!wanted || *wanted != header.size)
    refuse(fmt::format("a blob has {} bytes, which does not match its shape", header.size), name, offset);
  if (row.is_packed() && header.unused_bits != header.size * 8 - *type.element_count() * row.bits)
    refuse(fmt::format("a blob has {} unused bits, which does not match its shape", header.unused_bits), name,
           offset);
  return {offset, header.offset, file.substr(header.offset, header.size)};
}

void require_apart(const std::map<std::uint64_t, StoredBlob>& blobs, const std::string& name) {
  std::uint64_t end = 0;
  std::map<std::uint64_t, std::uint64_t> ranges;  // used bytes: begin to end
  for (const auto& [offset, blob] : blobs) {
    ranges.emplace(blob.begin, blob.begin + kBlobAlignment);
    if (blob.bytes.empty()) continue;
    const auto [place, is_new] = ranges.emplace(blob.data, blob.data + blob.bytes.size());
    if (!is_new) refuse("two blobs share their bytes", name, offset);
  }
  for (const auto& [begin, range_end] : ranges) {
    if (begin < end) refuse("two blobs share their bytes", name, begin);
    end = range_end;
  }
}

std::string weight_header(std::uint32_t count) {
  Header header;
  header.count = count;
  return bytes_of(header);
}

std::string blob_description(const ValueType& type, std::uint64_t size, std::uint64_t offset) {
  const DataTypeInfo& row = info_of(type.type);
  BlobHeader header;
  header.type = row.blob;
  header.size = size;
  header.offset = offset + sizeof header;
  header.unused_bits = row.is_packed() ? size * 8 - type.element_count().value_or(0) * row.bits : 0;
  return bytes_of(header);
}

}  // namespace ounce::coreml
