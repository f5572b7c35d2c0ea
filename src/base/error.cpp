#include <ounce/error.h>

#include <algorithm>
#include <utility>

namespace ounce {
namespace {

// Names from files appear in messages and may contain any characters.
std::string without_line_breaks(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return text;
}

}  // namespace

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kUsage:
    case ErrorCode::kBadInput:
    case ErrorCode::kTimeout:
    case ErrorCode::kMemory: return 2;
    case ErrorCode::kUnsupported: return 3;
    case ErrorCode::kIo: return 4;
    case ErrorCode::kCancelled: return 130;
    case ErrorCode::kInternal: break;
  }
  return 70;
}

Error::Error(ErrorCode code, const std::string& message, std::string where)
    : std::runtime_error(without_line_breaks(where.empty() ? message : where + ": " + message)),
      code_(code),
      where_(std::move(where)) {}

}  // namespace ounce
