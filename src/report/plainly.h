// Lines for people, with text of others in them: names, paths and messages show as plain() shows them, and
// cannot break the line, colour it or fill the screen.
//
//   text += plainly("note: {}\n", note);
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <type_traits>

#include "base/plain_text.h"

namespace ounce::report {

template <class T>
inline constexpr bool is_foreign = std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>;

template <class T>
using Shown = std::conditional_t<is_foreign<T>, std::string, const T&>;

template <class T>
Shown<T> shown(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return plain(value);
  } else if constexpr (is_foreign<T>) {
    return plain(value.string());
  } else {
    return value;
  }
}

// As fmt::format does it; what stands in the format is ours.
template <class... T>
std::string plainly(fmt::format_string<Shown<T>...> format, const T&... values) {
  return fmt::format(format, shown(values)...);
}

}  // namespace ounce::report
