// Digests: a fast one that distinguishes versions of a file, and SHA-256 for security.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ounce {

using Digest = std::array<unsigned char, 16>;  // XXH3-128, in canonical byte order

Digest digest_of(std::string_view bytes);
// Combines the digests of consecutive pieces. Large data is digested in pieces, on several threads or while
// it is read.
Digest digest_of(const std::vector<Digest>& pieces);
std::string hex(const Digest& digest);  // 32 hexadecimal digits

// SHA-256 (FIPS 180-4), for digests that must withstand attacks. Uses the CPU's SHA instructions.
//
//   Sha256 digest;
//   digest.add(first);
//   digest.add(second);
//   digest.hex();          // as `sha256sum` prints it
class Sha256 {
 public:
  using Digest = std::array<unsigned char, 32>;

  void add(std::string_view bytes);
  Digest digest() const;    // of all bytes so far; more may be added
  std::string hex() const;  // 64 hexadecimal digits

  using Words = std::array<std::uint32_t, 8>;
  static constexpr std::size_t kBlock = 64;

 private:
  // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  Words state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<char, kBlock> rest_ = {};  // bytes of the last, incomplete block
  std::uint64_t size_ = 0;
};

std::string sha256_of(std::string_view bytes);  // 64 hexadecimal digits

// Mixes whole blocks into a state. The test compares both implementations.
using Sha256Mixer = void (*)(Sha256::Words& state, const char* blocks, std::size_t count);
void sha256_mix_portably(Sha256::Words& state, const char* blocks, std::size_t count);
Sha256Mixer sha256_mixer_of_this_cpu();  // the portable one if the CPU has no SHA instructions

}  // namespace ounce
