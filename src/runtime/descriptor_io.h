// Bytes over a socket or a pipe, within a time limit. All of these throw Error{kCancelled} when this process
// was asked to stop.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ounce::runtime {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;
Deadline deadline_in(double seconds);  // 0: none

enum class Outcome { kDone, kClosed, kLate };

Outcome read_exactly(int descriptor, char* to, std::size_t size, Deadline deadline);
// Until the other side closes; what comes beyond `most` bytes is dropped.
Outcome read_to_end(int descriptor, std::string& bytes, std::size_t most, Deadline deadline);
Outcome write_all(int descriptor, std::string_view bytes, Deadline deadline);

}  // namespace ounce::runtime
