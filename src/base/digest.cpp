#include "base/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

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
