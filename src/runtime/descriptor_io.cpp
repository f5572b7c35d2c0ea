#include "runtime/descriptor_io.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/cancel.h"

namespace ounce::runtime {
namespace {

// Waits in short turns: whoever was asked to stop must not sit here until the other side answers.
Outcome wait_for(int descriptor, short events, Deadline deadline) {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  constexpr milliseconds kTurn(100);
  for (;;) {
    throw_if_cancelled();
    milliseconds turn = kTurn;
    if (deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*deadline - steady_clock::now());
      if (left <= milliseconds(0)) return Outcome::kLate;
      turn = std::min(turn, left);
    }
    pollfd state{descriptor, events, 0};
    const int ready = ::poll(&state, 1, static_cast<int>(turn.count()));
    if (ready > 0) return Outcome::kDone;  // also at the end, and on errors: the next call finds out
    if (ready < 0 && errno != EINTR) return Outcome::kClosed;
  }
}

// Some bytes; kClosed at the end.
Outcome read_some(int descriptor, char* to, std::size_t size, std::size_t& got, Deadline deadline) {
  for (;;) {
    if (const Outcome outcome = wait_for(descriptor, POLLIN, deadline); outcome != Outcome::kDone)
      return outcome;
    const ssize_t read = ::read(descriptor, to, size);
    if (read < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (read <= 0) return Outcome::kClosed;
    got = static_cast<std::size_t>(read);
    return Outcome::kDone;
  }
}

}  // namespace

Deadline deadline_in(double seconds) {
  using std::chrono::steady_clock;
  if (seconds <= 0) return std::nullopt;
  return steady_clock::now() +
         std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
}

Outcome read_exactly(int descriptor, char* to, std::size_t size, Deadline deadline) {
  while (size > 0) {
    std::size_t got = 0;
    if (const Outcome outcome = read_some(descriptor, to, size, got, deadline); outcome != Outcome::kDone)
      return outcome;
    to += got;
    size -= got;
  }
  return Outcome::kDone;
}

Outcome read_to_end(int descriptor, std::string& bytes, std::size_t most, Deadline deadline) {
  std::array<char, 4096> piece;
  for (;;) {
    std::size_t got = 0;
    const Outcome outcome = read_some(descriptor, piece.data(), piece.size(), got, deadline);
    if (outcome == Outcome::kClosed) return Outcome::kDone;
    if (outcome != Outcome::kDone) return outcome;
    bytes.append(piece.data(), std::min(got, most - std::min(most, bytes.size())));
  }
}

// A socket that was closed must not end this process with SIGPIPE; a pipe (over ssh, say) takes plain writes.
Outcome write_all(int descriptor, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (const Outcome outcome = wait_for(descriptor, POLLOUT, deadline); outcome != Outcome::kDone)
      return outcome;
    ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == ENOTSOCK) sent = ::write(descriptor, bytes.data(), bytes.size());
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) return Outcome::kClosed;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return Outcome::kDone;
}

}  // namespace ounce::runtime
