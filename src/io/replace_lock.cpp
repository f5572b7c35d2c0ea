#include "io/replace_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/temporary_name.h"

namespace ounce::io {
namespace {

constexpr std::chrono::seconds kLongestWait{10};  // for a writer that was stopped, or a lock that is not ours
constexpr std::chrono::milliseconds kPause{5};

}  // namespace

ReplaceLock::ReplaceLock(const std::filesystem::path& path) {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (std::chrono::steady_clock::now() < end) {
    // No link is followed: the name itself is replaced. A pipe must not keep us waiting.
    file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file_) return;  // nothing stands there
    const bool is_locked = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
    if (!is_locked && errno != EWOULDBLOCK) return;
    if (is_locked && is_name_of(path, file_.get())) return;
    if (!is_locked) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace ounce::io
