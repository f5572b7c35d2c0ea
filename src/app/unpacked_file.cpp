#include "app/unpacked_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/digest.h"
#include "io/descriptor.h"

namespace ounce::app {
namespace {

constexpr std::string_view kMark = "OUNCEup1";
constexpr std::size_t kNumber = sizeof(std::uint64_t), kDigest = sizeof(Digest);
constexpr std::size_t kEnd = 2 * kNumber + kDigest + kMark.size();

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view digest_in(std::string_view file) {
  return file.substr(file.size() - kMark.size() - kDigest, kDigest);
}

std::string bytes_of_digest(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string bytes_of_number(std::uint64_t value) {
  std::string bytes(kNumber, '\0');
  std::memcpy(bytes.data(), &value, kNumber);
  return bytes;
}

constexpr long kMarks = 1'000'000;  // nanoseconds below a millisecond

// The file's modification time with the mark of a file that was found intact.
timespec marked(const struct stat& status) {
  timespec time = status.st_mtim;
  time.tv_nsec -= time.tv_nsec % kMarks;
  const Digest digest = digest_of(
      fmt::format("{} {} {} {} {}", status.st_dev, status.st_ino, status.st_size, time.tv_sec, time.tv_nsec));
  std::uint32_t mark = 0;
  std::memcpy(&mark, digest.data(), sizeof mark);
  time.tv_nsec += 1 + static_cast<long>(mark % (kMarks - 1));  // coarse clocks give a 0
  return time;
}

bool has_mark(const struct stat& status) { return marked(status).tv_nsec == status.st_mtim.tv_nsec; }

}  // namespace

std::string CacheKey::text() const {
  return fmt::format("model {}\nruntime {}\ncpu {}\nsettings {}\n", digest, runtime_version, cpu, settings);
}

std::string CacheKey::file_name() const {
  const std::string rest = hex(digest_of(cpu + '\n' + settings)).substr(0, 8);
  return fmt::format("{}-{}-{}.ort", digest, runtime_version, rest);
}

std::optional<UnpackedFile> open_unpacked(const std::filesystem::path& path, const CacheKey& key) {
  UnpackedFile found;
  try {
    found.file = io::MappedFile::open(path);
  } catch (const Error&) {
    return std::nullopt;  // whatever is wrong with it, another one is made
  }
  const std::string_view bytes = found.file.bytes();
  const std::string wanted = key.text();
  if (bytes.size() < kEnd + wanted.size() || !bytes.ends_with(kMark)) return std::nullopt;
  const std::size_t end = bytes.size() - kEnd;
  if (number_at(bytes, end + kNumber) != wanted.size()) return std::nullopt;
  const std::size_t model_bytes = end - wanted.size();
  if (number_at(bytes, end) != model_bytes) return std::nullopt;
  if (bytes.substr(model_bytes, wanted.size()) != wanted) return std::nullopt;
  found.model = bytes.substr(0, model_bytes);
  return found;
}

std::optional<UnpackedFile> open_verified(const std::filesystem::path& path, const CacheKey& key,
                                          Verification verification) {
  std::optional<UnpackedFile> found = open_unpacked(path, key);
  if (!found) return found;
  struct stat status {};
  const bool is_known = verification == Verification::kOnce && ::stat(path.c_str(), &status) == 0 &&
                        found->file.same_file_as(path) && has_mark(status);
  if (is_known || bytes_of_digest(digest_of(found->model)) == digest_in(found->file.bytes())) return found;
  return std::nullopt;
}

void note_use(const std::filesystem::path& path) noexcept {
  struct stat status {};
  timespec now{};
  if (::stat(path.c_str(), &status) != 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0) return;
  status.st_mtim = now;
  const timespec times[2] = {{0, UTIME_OMIT}, marked(status)};
  // The owner alone may choose the time. For others every load compares the digest.
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

void finish_unpacked(const std::filesystem::path& path, std::string_view model, const CacheKey& key) {
  const std::string text = key.text();
  const std::string end = text + bytes_of_number(model.size()) + bytes_of_number(text.size()) +
                          bytes_of_digest(digest_of(model)) + std::string(kMark);
  const io::Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  std::string_view rest = end;
  while (file && !rest.empty()) {
    const ssize_t written = ::write(file.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!file || !rest.empty())
    throw Error(ErrorCode::kIo, fmt::format("cannot write: {}", std::strerror(errno)), path.string());
}

}  // namespace ounce::app
