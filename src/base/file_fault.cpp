#include "base/file_fault.h"

#include <cstddef>

namespace ounce {

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
