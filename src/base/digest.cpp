#include "base/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace ounce {

static_assert(sizeof(Digest) == sizeof(XXH128_canonical_t));

Digest digest_of(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Digest digest;
  std::memcpy(digest.data(), canonical.digest, digest.size());
  return digest;
}

Digest digest_of(const std::vector<Digest>& pieces) {
  return digest_of({reinterpret_cast<const char*>(pieces.data()), pieces.size() * sizeof(Digest)});
}

std::string hex(const Digest& digest) {
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace ounce

// Older versions of Clang do not support target("+crypto").
#if defined(__aarch64__) && defined(__linux__) && (!defined(__clang__) || __clang_major__ >= 17)
#define OUNCE_ARM_SHA 1
#else
#define OUNCE_ARM_SHA 0
#endif

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif OUNCE_ARM_SHA
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace ounce {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr std::array<std::uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const char* at) {
  std::array<unsigned char, 4> b;
  std::memcpy(b.data(), at, b.size());
  return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
}

void mix_block(Sha256::Words& state, const char* block) {
  using std::rotr;
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (rotr(a, 7) ^ rotr(a, 18) ^ (a >> 3)) +
           (rotr(b, 17) ^ rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t one =
        h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
    const std::uint32_t two = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const Sha256::Words mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

// Four rounds per step; the message schedule is a ring of the last 16 words.
#if defined(__x86_64__)

bool has_sha_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSsse3 = 1U << 9, kSse41 = 1U << 19, kSha = 1U << 29;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSsse3) == 0 || (c & kSse41) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
}

__attribute__((target("sha,ssse3,sse4.1"))) void mix_by_instructions(Sha256::Words& state, const char* blocks,
                                                                     std::size_t count) {
  const __m128i big_endian_words = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto at = [](const void* place) { return static_cast<const __m128i*>(place); };
  // The instructions need the words as ABEF and CDGH.
  const __m128i dcba = _mm_loadu_si128(at(state.data())), hgfe = _mm_loadu_si128(at(state.data() + 4));
  const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; count != 0; --count, blocks += Sha256::kBlock) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) {
      __m128i& next = w[i % 4];
      if (i < 4) {
        next = _mm_shuffle_epi8(_mm_loadu_si128(at(blocks + 16 * i)), big_endian_words);
      } else {
        const __m128i last = w[(i + 3) % 4];
        next = _mm_add_epi32(_mm_sha256msg1_epu32(next, w[(i + 1) % 4]),
                             _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
        next = _mm_sha256msg2_epu32(next, last);
      }
      const __m128i added = _mm_add_epi32(next, _mm_load_si128(at(kRounds.data() + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#elif OUNCE_ARM_SHA

bool has_sha_instructions() { return (::getauxval(AT_HWCAP) & HWCAP_SHA2) != 0; }

__attribute__((target("+crypto"))) void mix_by_instructions(Sha256::Words& state, const char* blocks,
                                                            std::size_t count) {
  uint32x4_t abcd = vld1q_u32(state.data()), efgh = vld1q_u32(state.data() + 4);
  for (; count != 0; --count, blocks += Sha256::kBlock) {
    const uint32x4_t abcd_before = abcd, efgh_before = efgh;
    uint32x4_t w[4];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) {
      uint32x4_t& next = w[i % 4];
      if (i < 4) {
        next = vreinterpretq_u32_u8(
            vrev32q_u8(vld1q_u8(reinterpret_cast<const unsigned char*>(blocks + 16 * i))));
      } else {
        next = vsha256su1q_u32(vsha256su0q_u32(next, w[(i + 1) % 4]), w[(i + 2) % 4], w[(i + 3) % 4]);
      }
      const uint32x4_t added = vaddq_u32(next, vld1q_u32(kRounds.data() + 4 * i)), abcd_now = abcd;
      abcd = vsha256hq_u32(abcd, efgh, added);
      efgh = vsha256h2q_u32(efgh, abcd_now, added);
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(state.data(), abcd);
  vst1q_u32(state.data() + 4, efgh);
}

#else

bool has_sha_instructions() { return false; }
constexpr Sha256Mixer mix_by_instructions = nullptr;

#endif

}  // namespace

void sha256_mix_portably(Sha256::Words& state, const char* blocks, std::size_t count) {
  for (; count != 0; --count, blocks += Sha256::kBlock) mix_block(state, blocks);
}

Sha256Mixer sha256_mixer_of_this_cpu() {
  static const Sha256Mixer mixer = has_sha_instructions() ? mix_by_instructions : sha256_mix_portably;
  return mixer;
}

void Sha256::add(std::string_view bytes) {
  if (bytes.empty()) return;  // memcpy() must not get a null pointer
  const std::size_t held = static_cast<std::size_t>(size_ % kBlock);
  size_ += bytes.size();
  if (held != 0) {
    const std::size_t more = std::min(bytes.size(), kBlock - held);
    std::memcpy(rest_.data() + held, bytes.data(), more);
    bytes.remove_prefix(more);
    if (held + more < kBlock) return;
    sha256_mixer_of_this_cpu()(state_, rest_.data(), 1);
  }
  const std::size_t blocks = bytes.size() / kBlock;
  if (blocks != 0) sha256_mixer_of_this_cpu()(state_, bytes.data(), blocks);
  bytes.remove_prefix(blocks * kBlock);
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
}

// The rest, a one bit, zeros, and the length in bits at the end of a block.
Sha256::Digest Sha256::digest() const {
  const std::size_t held = static_cast<std::size_t>(size_ % kBlock);
  std::array<char, 2 * kBlock> end = {};
  std::memcpy(end.data(), rest_.data(), held);
  end[held] = '\x80';
  const std::uint64_t bits = size_ * 8;
  const std::size_t blocks = held + 1 + sizeof bits > kBlock ? 2 : 1;
  for (std::size_t i = 0; i < sizeof bits; ++i)
    end[blocks * kBlock - 1 - i] = static_cast<char>(bits >> 8 * i & 0xff);
  Words state = state_;
  sha256_mixer_of_this_cpu()(state, end.data(), blocks);
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<unsigned char>(state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
  return digest;
}

std::string Sha256::hex() const {
  std::string digits;
  for (const unsigned char byte : digest()) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 0xf];
  }
  return digits;
}

std::string sha256_of(std::string_view bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.hex();
}

}  // namespace ounce
