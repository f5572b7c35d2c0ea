#include "measure/prefetch.h"

#include <utility>

#include "base/cancel.h"

namespace ounce::measure {

Prefetch::Prefetch(data::Feed& feed)
    : feed_(feed), reader_([this, call = CallOfThread()] {
        const CallOfThread::Scope scope(call);
        read_all();
      }) {}

Prefetch::~Prefetch() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  reader_.join();
}

// `ahead_` is the reader's while it is not ready, and the caller's while it is.
void Prefetch::read_all() {
  try {
    for (std::uint64_t i = 0; i < feed_.batches(); ++i) {
      feed_.read(i, ahead_);
      std::unique_lock lock(mutex_);
      is_ready_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !is_ready_ || is_closing_; });
      if (is_closing_) return;
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

const data::Batch* Prefetch::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_ready_ || is_over_; });
  if (!is_ready_) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return nullptr;
  }
  std::swap(current_, ahead_);
  is_ready_ = false;
  changed_.notify_all();
  return &current_;
}

}  // namespace ounce::measure
