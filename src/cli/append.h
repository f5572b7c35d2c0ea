// Text that is written piece by piece.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace ounce::cli {

template <class... Values>
void append(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
}

}  // namespace ounce::cli
