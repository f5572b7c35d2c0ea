#include <ounce/error.h>

#include <utility>

namespace ounce {

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kUsage:
    case ErrorCode::kBadInput: return 2;
    case ErrorCode::kUnsupported: return 3;
    case ErrorCode::kIo: return 4;
    case ErrorCode::kCancelled: return 130;
    case ErrorCode::kInternal: break;
  }
  return 70;
}

Error::Error(ErrorCode code, const std::string& message, std::string where)
    : std::runtime_error(where.empty() ? message : where + ": " + message),
      code_(code),
      where_(std::move(where)) {}

}  // namespace ounce
