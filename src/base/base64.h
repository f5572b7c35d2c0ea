// Bytes as text, for JSON and for pages (RFC 4648, with padding).
#pragma once

#include <string>
#include <string_view>

namespace ounce {

std::string base64(std::string_view bytes);
bool is_base64(std::string_view text);  // as base64() writes it

}  // namespace ounce
