// Bytes that are read in order: of a mapped file, or of an archive's entry that is inflated on the way.
//
//   stream.seek(header.data_offset);
//   std::string values = stream.read(header.sample_bytes);
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ounce::data {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual std::uint64_t size() const = 0;
  virtual std::uint64_t position() const = 0;
  // Forward costs what lies between, backward may cost a new start.
  virtual void seek(std::uint64_t position) = 0;
  // Fills `to`, or throws Error{kBadInput}.
  virtual void read(std::span<char> to) = 0;

  // Memory grows with what is really there, not with `count`.
  std::string read(std::uint64_t count);
};

// Bytes that somebody else keeps.
class MemoryStream : public ByteStream {
 public:
  // `where` names them in errors.
  MemoryStream(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  std::uint64_t size() const override { return bytes_.size(); }
  std::uint64_t position() const override { return position_; }
  void seek(std::uint64_t position) override;
  using ByteStream::read;
  void read(std::span<char> to) override;

 private:
  std::string_view bytes_;
  std::string where_;
  std::uint64_t position_ = 0;
};

// Numbers as file formats write them: the least significant byte first.

// `bytes` must hold sizeof(T) bytes from `offset` on.
template <std::unsigned_integral T>
T load_little_endian(std::string_view bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const T byte = static_cast<unsigned char>(bytes[offset + i]);
    value = static_cast<T>(value | static_cast<T>(byte << (8 * i)));
  }
  return value;
}

inline std::uint16_t u16(std::string_view bytes, std::size_t offset) {
  return load_little_endian<std::uint16_t>(bytes, offset);
}
inline std::uint32_t u32(std::string_view bytes, std::size_t offset) {
  return load_little_endian<std::uint32_t>(bytes, offset);
}
inline std::uint64_t u64(std::string_view bytes, std::size_t offset) {
  return load_little_endian<std::uint64_t>(bytes, offset);
}

}  // namespace ounce::data
