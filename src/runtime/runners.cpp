#include "runtime/runners.h"

#include <algorithm>

namespace ounce::runtime {
namespace {

constexpr std::size_t kMostWaiting = 16;

}  // namespace

std::unique_ptr<ChildProcess> Runners::take(const std::string& purpose) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const auto& runner) { return runner.first == purpose; });
  if (found == waiting_.end()) return nullptr;
  std::unique_ptr<ChildProcess> runner = std::move(found->second);
  waiting_.erase(found);
  return runner;
}

void Runners::give_back(const std::string& purpose, std::unique_ptr<ChildProcess> runner) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() < kMostWaiting) waiting_.emplace_back(purpose, std::move(runner));
}

}  // namespace ounce::runtime
