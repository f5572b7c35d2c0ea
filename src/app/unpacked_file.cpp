#include "app/unpacked_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

#include "base/digest.h"
#include "io/descriptor.h"
#include "io/mapped_file.h"

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

// The file's modification time, with the last six digits replaced by the mark of an intact file.
timespec marked(const struct stat& status) {
  timespec time = status.st_mtim;
  time.tv_nsec -= time.tv_nsec % kMarks;
  const Digest digest = digest_of(
      fmt::format("{} {} {} {} {}", status.st_dev, status.st_ino, status.st_size, time.tv_sec, time.tv_nsec));
  std::uint32_t mark = 0;
  std::memcpy(&mark, digest.data(), sizeof mark);
  time.tv_nsec += 1 + static_cast<long>(mark % (kMarks - 1));  // never 0, which coarse clocks give
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
    return std::nullopt;  // an unreadable file is replaced
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
  // Only the file's owner may set a specific time. For other users every load compares the digest.
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

namespace {

constexpr std::uint64_t kLine = 64;              // bytes of a cache line
constexpr std::uint64_t kWorthIt = 4096;         // bytes; smaller weights are not moved
constexpr std::uint64_t kLargest = 0x7FFF'0000;  // file size limit of the format, minus room for padding
// Field indices in their tables (onnxruntime/core/flatbuffers/schema/ort.fbs). Later versions of the format
// keep them.
constexpr std::uint32_t kModelOfSession = 1, kGraphOfModel = 7, kInitializersOfGraph = 0, kBytesOfTensor = 4;

struct Unreadable {};

// A minimal FlatBuffers reader. Never reads outside the bytes, even if they are invalid.
class Tables {
 public:
  explicit Tables(std::string_view bytes) : bytes_(bytes) {}

  // Follows a relative offset.
  std::uint64_t follow(std::uint64_t at) const { return at + number<std::uint32_t>(at); }

  // The position of a table's field, if the table has it.
  std::optional<std::uint64_t> field(std::uint64_t table, std::uint32_t index) const {
    const auto places =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(table) - number<std::int32_t>(table));
    const std::uint64_t entry = 4 + 2 * std::uint64_t{index};
    if (entry + 2 > number<std::uint16_t>(places)) return std::nullopt;
    const std::uint16_t offset = number<std::uint16_t>(places + entry);
    return offset == 0 ? std::nullopt : std::optional(table + offset);
  }

  template <class Number>
  Number number(std::uint64_t at) const {
    if (at > bytes_.size() || sizeof(Number) > bytes_.size() - at) throw Unreadable();
    Number value{};
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

 private:
  std::string_view bytes_;
};

// A byte vector: 4 bytes of length, then the bytes. `named_at` is the position of the offset that refers to
// it.
struct Weight {
  std::uint64_t named_at, begin, bytes;
};

std::vector<Weight> weights_to_move(std::string_view bytes) {
  const Tables tables(bytes);
  std::vector<Weight> found;
  const auto inside = [&](std::uint64_t table, std::uint32_t field) -> std::optional<std::uint64_t> {
    const auto at = tables.field(table, field);
    return at ? std::optional(tables.follow(*at)) : std::nullopt;
  };
  const auto model = inside(tables.follow(0), kModelOfSession);
  const auto graph = model ? inside(*model, kGraphOfModel) : std::nullopt;
  const auto initializers = graph ? inside(*graph, kInitializersOfGraph) : std::nullopt;
  if (!initializers) return {};
  for (std::uint64_t i = 0; i < tables.number<std::uint32_t>(*initializers); ++i) {
    const std::uint64_t tensor = tables.follow(*initializers + 4 + 4 * i);
    const auto named_at = tables.field(tensor, kBytesOfTensor);
    if (!named_at) continue;
    const std::uint64_t begin = tables.follow(*named_at), size = tables.number<std::uint32_t>(begin);
    if (begin + 4 + size > bytes.size()) throw Unreadable();
    if (size >= kWorthIt && (begin + 4) % kLine != 0) found.push_back({*named_at, begin, size});
  }
  // Two tensors may refer to the same bytes: moving them for one would leave a hole for the other.
  std::vector<std::uint64_t> begins;
  for (const Weight& weight : found) begins.push_back(weight.begin);
  std::sort(begins.begin(), begins.end());
  if (std::adjacent_find(begins.begin(), begins.end()) != begins.end()) return {};
  return found;
}

void write_at(int file, std::uint64_t at, std::string_view bytes, const std::filesystem::path& path) {
  constexpr std::size_t kMostAtOnce = std::size_t{64} << 20;
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(file, bytes.data(), std::min(bytes.size(), kMostAtOnce), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw Error(ErrorCode::kIo, fmt::format("cannot write: {}", std::strerror(errno)), path.string());
    at += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::size_t align_weights(const std::filesystem::path& path) {
  const io::MappedFile mapped = io::MappedFile::open(path);
  const std::string_view bytes = mapped.bytes();
  std::vector<Weight> weights;
  try {
    weights = weights_to_move(bytes);
  } catch (const Unreadable&) {
    return 0;
  }
  std::uint64_t end = bytes.size();
  for (const Weight& weight : weights) end += 2 * kLine + weight.bytes;
  if (end > kLargest) return 0;
  const io::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file)
    throw Error(ErrorCode::kIo, fmt::format("cannot write: {}", std::strerror(errno)), path.string());
  end = bytes.size();
  for (const Weight& weight : weights) {
    end = (end + 4 + kLine - 1) / kLine * kLine;  // aligns the bytes; their length precedes them
    write_at(file.get(), end - 4, bytes.substr(weight.begin, 4 + weight.bytes), path);
    const auto distance = static_cast<std::uint32_t>(end - 4 - weight.named_at);
    write_at(file.get(), weight.named_at, {reinterpret_cast<const char*>(&distance), sizeof distance}, path);
    // File systems without holes keep the unused bytes.
    ::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(weight.begin),
                static_cast<off_t>(4 + weight.bytes));
    end += weight.bytes;
  }
  return weights.size();
}

}  // namespace ounce::app
