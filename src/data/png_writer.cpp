#include "data/png_writer.h"

#include <ounce/error.h>
#include <zlib.h>

namespace ounce::data {
namespace {

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24U), static_cast<char>(value >> 16U), static_cast<char>(value >> 8U),
          static_cast<char>(value)};
}

// Length, kind, content, and a sum over the last two.
std::string chunk(const std::string& kind, const std::string& content) {
  const std::string summed = kind + content;
  const uLong sum =
      ::crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + summed +
         big_endian(static_cast<std::uint32_t>(sum));
}

// Every row begins with its filter: 1, each byte less the one of the pixel before it, which suits pictures.
std::string filtered_rows(const Image& image) {
  constexpr char kSub = 1;
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t row = static_cast<std::size_t>(image.width) * channels;
  std::string rows;
  rows.reserve(image.pixels.size() + static_cast<std::size_t>(image.height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
    rows += kSub;
    for (std::size_t x = 0; x < row; ++x) {
      const unsigned before = x < channels ? 0U : image.pixels[y * row + x - channels];
      rows += static_cast<char>(image.pixels[y * row + x] - before);
    }
  }
  return rows;
}

std::string deflated(const std::string& bytes) {
  uLongf size = ::compressBound(static_cast<uLong>(bytes.size()));
  std::string made(size, '\0');
  const int code =
      ::compress2(reinterpret_cast<Bytef*>(made.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                  static_cast<uLong>(bytes.size()), Z_BEST_COMPRESSION);
  if (code != Z_OK) throw Error(ErrorCode::kIo, "out of memory while a picture is made");
  made.resize(size);
  return made;
}

}  // namespace

std::string encode_png(const Image& image) {
  constexpr char kGrey = 0, kColour = 2, kBitsPerChannel = 8;
  std::string header = big_endian(static_cast<std::uint32_t>(image.width)) +
                       big_endian(static_cast<std::uint32_t>(image.height));
  header += kBitsPerChannel;
  header += image.channels == 1 ? kGrey : kColour;
  header += std::string(3, '\0');  // the only compression, the only filter method, not interlaced
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", deflated(filtered_rows(image))) +
         chunk("IEND", "");
}

}  // namespace ounce::data
