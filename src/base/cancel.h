// Stopping early. A signal handler asks; long work checks between tiles and unwinds with
// Error{kCancelled}, so that every destructor runs and no unfinished file stays behind.
#pragma once

namespace ounce {

void request_cancel() noexcept;  // async-signal-safe
void throw_if_cancelled();

}  // namespace ounce
