// What the checks of tests/fuzz are made of: bytes from outside are refused with Error{kBadInput} and one
// line, or they are taken, and then promises hold.
#pragma once

#include <ounce/error.h>

#include <optional>
#include <stdexcept>
#include <string_view>

namespace ounce::test {

class BrokenPromise : public std::logic_error {
  using std::logic_error::logic_error;
};

inline void promise(bool holds, const char* what) {
  if (!holds) throw BrokenPromise(what);
}

enum class Versions {
  kNone,
  kMayBeNewer
};  // files that tell their version may be of one that nobody knows yet

// Nothing when the bytes were refused.
template <class Action>
auto unless_refused(Action action, Versions versions = Versions::kNone) -> std::optional<decltype(action())> {
  try {
    return action();
  } catch (const Error& error) {
    const bool is_newer = versions == Versions::kMayBeNewer && error.code() == ErrorCode::kUnsupported;
    promise(is_newer || error.code() == ErrorCode::kBadInput, "bad input was not called bad input");
    promise(std::string_view(error.what()).find('\n') == std::string_view::npos,
            "a message has more than one line");
    return std::nullopt;
  }
}

}  // namespace ounce::test
