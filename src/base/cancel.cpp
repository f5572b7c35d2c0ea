#include "base/cancel.h"

#include <ounce/error.h>
#include <ounce/quantize.h>

#include <atomic>

namespace ounce {
namespace {
std::atomic<bool> cancelled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "request_cancel() runs in signal handlers");
}  // namespace

void request_cancel() noexcept { cancelled.store(true, std::memory_order_relaxed); }

void throw_if_cancelled() {
  if (cancelled.load(std::memory_order_relaxed))
    throw Error(ErrorCode::kCancelled, "stopped; nothing was written");
}

}  // namespace ounce
