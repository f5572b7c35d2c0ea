// Support for the checks of tests/fuzz: input is rejected with Error{kBadInput} and one line, or it is
// accepted and conditions are checked by promise().
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
};  // kMayBeNewer: the file has a version number, which may be a future one

// Runs `action`; returns nothing if it rejects the input.
template <class Action>
auto unless_refused(Action action, Versions versions = Versions::kNone) -> std::optional<decltype(action())> {
  try {
    return action();
  } catch (const Error& error) {
    const bool is_newer = versions == Versions::kMayBeNewer && error.code() == ErrorCode::kUnsupported;
    promise(is_newer || error.code() == ErrorCode::kBadInput, "bad input was not reported as bad input");
    promise(std::string_view(error.what()).find('\n') == std::string_view::npos,
            "a message has more than one line");
    return std::nullopt;
  }
}

}  // namespace ounce::test
