#include "data/containers/wav.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cstring>
#include <optional>

#include "data/containers/byte_stream.h"
#include "io/mapped_file.h"

namespace ounce::data {
namespace {

constexpr std::uint16_t kPcmTag = 1, kFloatTag = 3, kExtensibleTag = 0xfffe;
constexpr std::uint32_t kInLargeSizes = 0xffffffff;  // means that the actual size is in the ds64 chunk
// The bytes after the format tag in the format identifier of an extensible header.
constexpr std::string_view kIdentifierRest("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
constexpr std::size_t kSmallestFormat = 16, kExtensibleFormat = 40, kSmallestDs64 = 28;
constexpr float kBelowOne = 1.0F - FLT_EPSILON / 2;

class WavReader {
 public:
  WavReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  WavInfo read() {
    std::uint64_t at = check_start();
    while (at < bytes_.size() && !data_bytes_) at = take_chunk(at);
    if (!has_format_) fail("has no format chunk before its data chunk");
    if (!data_bytes_) fail("is truncated: it has no data chunk");
    if (*data_bytes_ % info_.frame_bytes() != 0) fail("is damaged: its data is not a whole number of frames");
    info_.frames = *data_bytes_ / info_.frame_bytes();
    return info_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(ErrorCode::kBadInput, what, where_); }

  // Returns the position of the first chunk and removes bytes after the declared size from bytes_.
  std::uint64_t check_start() {
    if (bytes_.size() < 12) fail("is not a WAV file: it is too short");
    const std::string_view kind = bytes_.substr(0, 4);
    if (bytes_.substr(8, 4) != "WAVE" || (kind != "RIFF" && kind != "RF64" && kind != "BW64"))
      fail("is not a WAV file: its first bytes are wrong");
    is_large_ = kind != "RIFF";
    const std::uint64_t size = u32(bytes_, 4);
    if (!is_large_) limit_to(size);
    return 12;
  }

  void limit_to(std::uint64_t size) {
    if (size == kInLargeSizes && !is_large_)
      fail("has no length because it was written to a pipe; convert it again into a file");
    if (size > bytes_.size() - 8)
      fail(fmt::format("is truncated: it has {} bytes, but declares {}", bytes_.size() - 8, size));
    bytes_ = bytes_.substr(0, size + 8);
  }

  std::uint64_t take_chunk(std::uint64_t at) {
    if (bytes_.size() - at < 8) fail("is truncated, or followed by other data");
    const std::string_view kind = bytes_.substr(at, 4);
    std::uint64_t size = u32(bytes_, at + 4);
    at += 8;
    if (kind == "data" && is_large_ && size == kInLargeSizes) size = large_data_bytes_;
    if (size > bytes_.size() - at)
      fail(fmt::format("is truncated: it has {} of the {} bytes of a chunk", bytes_.size() - at, size));
    const std::string_view chunk = bytes_.substr(at, size);
    if (kind == "ds64" && is_large_) take_large_sizes(chunk);
    if (kind == "fmt ") take_format(chunk);
    if (kind == "data") {
      data_bytes_ = size;
      info_.data_offset = at;
    }
    return at + size + size % 2;  // chunks begin at even offsets
  }

  void take_large_sizes(std::string_view chunk) {
    if (chunk.size() < kSmallestDs64) fail("is damaged: its table of sizes is too short");
    large_data_bytes_ = u64(chunk, 8);
    limit_to(u64(chunk, 0));
  }

  void take_format(std::string_view chunk) {
    if (chunk.size() < kSmallestFormat) fail("is damaged: its format is too short");
    std::uint16_t tag = u16(chunk, 0);
    if (tag == kExtensibleTag) {
      if (chunk.size() < kExtensibleFormat) fail("is damaged: its format is too short");
      tag = chunk.substr(26, 14) == kIdentifierRest ? u16(chunk, 24) : kExtensibleTag;
    }
    info_.channels = u16(chunk, 2);
    info_.rate = u32(chunk, 4);
    info_.bits = u16(chunk, 14);
    info_.coding = tag == kFloatTag ? WavCoding::kFloat : WavCoding::kPcm;
    check_format(tag, u16(chunk, 12));
    has_format_ = true;
  }

  void check_format(std::uint16_t tag, std::uint16_t frame_bytes) const {
    if (tag != kPcmTag && tag != kFloatTag)
      fail(fmt::format("has compressed sound (format {:#06x}); convert it to 16-bit PCM", tag));
    const unsigned bits = info_.bits;
    const bool is_known =
        tag == kFloatTag ? bits == 32 || bits == 64 : bits == 8 || bits == 16 || bits == 24 || bits == 32;
    if (!is_known)
      fail(fmt::format("has {}-bit {}; convert it to 16-bit PCM", bits, tag == kFloatTag ? "floats" : "PCM"));
    if (info_.channels == 0) fail("is damaged: it has no channels");
    if (info_.rate == 0) fail("is damaged: its sampling rate is 0");
    if (frame_bytes != info_.frame_bytes())
      fail("is damaged: the size of its frames does not fit its format");
  }

  std::string_view bytes_;
  const std::string& where_;
  WavInfo info_;
  bool is_large_ = false, has_format_ = false;
  std::optional<std::uint64_t> data_bytes_;
  std::uint64_t large_data_bytes_ = 0;
};

float from_pcm(std::string_view bytes, std::size_t at, std::uint64_t width) {
  if (width == 1) return (static_cast<float>(static_cast<unsigned char>(bytes[at])) - 128.0F) / 128.0F;
  // Put the value into the upper bytes of 32 bits, so that it has the right sign.
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const std::uint32_t byte = static_cast<unsigned char>(bytes[at + i]);
    value |= byte << (8 * (4 - width + i));
  }
  return std::min(static_cast<float>(static_cast<std::int32_t>(value)) / 0x1p31F, kBelowOne);
}

float from_float(std::string_view bytes, std::size_t at, std::uint64_t width) {
  if (width == 4) return std::bit_cast<float>(u32(bytes, at));
  const auto value = std::bit_cast<double>(u64(bytes, at));
  return static_cast<float>(std::clamp(value, -double{FLT_MAX}, double{FLT_MAX}));
}

std::string to_floats(const WavInfo& info, std::string_view values) {
  const std::uint64_t width = info.value_bytes();
  std::string floats(values.size() / width * sizeof(float), '\0');
  for (std::size_t i = 0; i < values.size() / width; ++i) {
    const float value = info.coding == WavCoding::kPcm ? from_pcm(values, i * width, width)
                                                       : from_float(values, i * width, width);
    std::memcpy(floats.data() + i * sizeof(float), &value, sizeof(float));
  }
  return floats;
}

}  // namespace

ElementType WavInfo::type() const {
  return coding == WavCoding::kPcm && bits == 16 ? ElementType::kInt16 : ElementType::kFloat;
}

Dims WavInfo::dims(std::uint64_t count) const {
  Dims dims{static_cast<std::int64_t>(count)};
  if (channels > 1) dims.push_back(channels);
  return dims;
}

WavInfo probe_wav(std::string_view bytes, const std::string& where) { return WavReader(bytes, where).read(); }

WavInfo probe_wav(const std::filesystem::path& path) {
  return probe_wav(io::MappedFile::open(path).bytes(), path.string());
}

Tensor read_wav(std::string_view bytes, const std::string& where, std::uint64_t first, std::uint64_t count) {
  const WavInfo info = probe_wav(bytes, where);
  const bool is_inside = first <= info.frames && (count == kAllFrames || count <= info.frames - first);
  if (!is_inside) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("has {} frames, but {} frames from frame {} were requested", info.frames,
                            count == kAllFrames ? "those" : std::to_string(count), first),
                where);
  }
  if (count == kAllFrames) count = info.frames - first;
  const std::string_view values =
      bytes.substr(info.data_offset + first * info.frame_bytes(), count * info.frame_bytes());
  const bool is_as_stored = info.type() == ElementType::kInt16;
  return {info.type(), info.dims(count), is_as_stored ? std::string(values) : to_floats(info, values), {}};
}

Tensor read_wav(const std::filesystem::path& path, std::uint64_t first, std::uint64_t count) {
  return read_wav(io::MappedFile::open(path).bytes(), path.string(), first, count);
}

}  // namespace ounce::data
