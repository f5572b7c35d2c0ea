// SHA-256 (FIPS 180-4): whether a file somewhere else is the one that we have, as `sha256sum` says it there.
#pragma once

#include <string>
#include <string_view>

namespace ounce {

std::string sha256_of(std::string_view bytes);  // 64 hexadecimal digits

}  // namespace ounce
