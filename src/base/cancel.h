// Stopping early. ounce::request_cancel() asks (from a signal handler, perhaps); long work checks between
// tiles and unwinds with Error{kCancelled}, so that every destructor runs and no unfinished file stays
// behind.
#pragma once

namespace ounce {

void throw_if_cancelled();

}  // namespace ounce
