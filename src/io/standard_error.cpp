#include "io/standard_error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace ounce::io {
namespace {

constexpr off_t kMostText = off_t{64} << 10;

std::mutex& capture_mutex() {
  static auto* const mutex = new std::mutex;  // never destroyed: a library may print during exit
  return *mutex;
}

Descriptor open_place() {
  Descriptor memory(::memfd_create("standard-error", MFD_CLOEXEC));
  return memory ? std::move(memory) : Descriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
}

}  // namespace

StandardErrorCapture::StandardErrorCapture()
    : lock_(capture_mutex()), saved_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)), kept_(open_place()) {
  if (saved_ && kept_) ::dup2(kept_.get(), STDERR_FILENO);
}

StandardErrorCapture::~StandardErrorCapture() {
  if (saved_ && kept_) ::dup2(saved_.get(), STDERR_FILENO);
}

std::string StandardErrorCapture::text() const {
  struct stat state {};
  if (!kept_ || ::fstat(kept_.get(), &state) != 0 || !S_ISREG(state.st_mode)) return {};
  const off_t size = std::min(state.st_size, kMostText);
  std::string text(static_cast<std::size_t>(size), '\0');
  const ssize_t got = ::pread(kept_.get(), text.data(), text.size(), state.st_size - size);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

}  // namespace ounce::io
