#include "app/align_weights.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "io/descriptor.h"
#include "io/mapped_file.h"

namespace ounce::app {
namespace {

constexpr std::uint64_t kLine = 64;              // bytes of a cache line
constexpr std::uint64_t kWorthIt = 4096;         // bytes of a weight
constexpr std::uint64_t kLargest = 0x7FFF'0000;  // of the format, with some room for what we add
// The places of fields in their tables (onnxruntime/core/flatbuffers/schema/ort.fbs); a format that grows
// keeps them.
constexpr std::uint32_t kModelOfSession = 1, kGraphOfModel = 7, kInitializersOfGraph = 0, kBytesOfTensor = 4;

struct Unreadable {};

// FlatBuffers, as far as it is needed: nothing outside of the bytes is read, whatever they say.
class Tables {
 public:
  explicit Tables(std::string_view bytes) : bytes_(bytes) {}

  // Where the thing lies that is named at a place by its distance.
  std::uint64_t follow(std::uint64_t at) const { return at + number<std::uint32_t>(at); }

  // Where a field of a table lies; nothing when it has none.
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

// A vector of bytes: 4 for its length, then the bytes.
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
  // A weight that two tensors name would be found empty by the second one.
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
    end = (end + 4 + kLine - 1) / kLine * kLine;  // of the bytes; their length stands before them
    write_at(file.get(), end - 4, bytes.substr(weight.begin, 4 + weight.bytes), path);
    const auto distance = static_cast<std::uint32_t>(end - 4 - weight.named_at);
    write_at(file.get(), weight.named_at, {reinterpret_cast<const char*>(&distance), sizeof distance}, path);
    // A file system without holes keeps what nobody reads any more.
    ::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(weight.begin),
                static_cast<off_t>(4 + weight.bytes));
    end += weight.bytes;
  }
  return weights.size();
}

}  // namespace ounce::app
