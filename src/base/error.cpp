#include "base/error.h"

#include <ounce/error.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ounce {
namespace {

// Names out of files go into messages, and may hold anything.
std::string on_one_line(std::string text) {
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
    : std::runtime_error(on_one_line(where.empty() ? message : where + ": " + message)),
      code_(code),
      where_(std::move(where)) {}

void FileFault::record(const char* path) noexcept {
  State none = State::kNone;
  if (!state_.compare_exchange_strong(none, State::kRecording)) return;
  for (std::size_t i = 0; i + 1 < path_.size() && path[i] != '\0'; ++i) path_[i] = path[i];
  state_.store(State::kRecorded, std::memory_order_release);
}

std::string FileFault::path() const {
  return state_.load(std::memory_order_acquire) == State::kRecorded ? path_.data() : "";
}

}  // namespace ounce
