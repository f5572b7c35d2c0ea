#include "base/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace ounce {
namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20;

std::string hex(const XXH128_hash_t& hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::string digest(std::string_view bytes) {
  ThreadPool caller(1);
  return digest({bytes}, caller, {});
}

std::string digest(const std::vector<std::string_view>& ranges, ThreadPool& pool,
                   const std::function<void(std::string_view)>& release) {
  std::vector<std::string_view> pieces;
  for (const std::string_view range : ranges) {
    for (std::size_t at = 0; at < range.size(); at += kPiece) pieces.push_back(range.substr(at, kPiece));
  }
  std::vector<XXH128_canonical_t> digests(pieces.size());
  pool.for_each(pieces.size(), [&](std::size_t i) {
    XXH128_canonicalFromHash(&digests[i], XXH3_128bits(pieces[i].data(), pieces[i].size()));
    if (release) release(pieces[i]);
  });
  return hex(XXH3_128bits(digests.data(), digests.size() * sizeof(XXH128_canonical_t)));
}

}  // namespace ounce
