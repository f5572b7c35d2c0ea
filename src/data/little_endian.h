// Numbers as file formats write them: the least significant byte first.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ounce::data {

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
