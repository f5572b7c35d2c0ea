// A fast 128-bit digest that tells versions of a file apart. Not for security.
//
// Large bytes are cut into pieces, so that several threads can share the work and whoever reads a piece
// anyway can digest it on the way; the digest of the whole is that of the digests of its pieces, in order.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ounce {

using Digest = std::array<unsigned char, 16>;  // XXH3-128, in its canonical order of bytes

Digest digest_of(std::string_view bytes);
Digest digest_of(const std::vector<Digest>& pieces);
std::string hex(const Digest& digest);  // 32 hexadecimal digits

}  // namespace ounce
