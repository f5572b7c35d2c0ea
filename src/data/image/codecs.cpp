#include "data/image/image.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

// libjpeg's headers require <cstdio> before them.
#include <jerror.h>
#include <jpeglib.h>

namespace ounce::data {
namespace {

// Limits the scans of progressive files. Each needs a pass over the whole image, but only ten bytes of the
// file. Encoders write about ten scans.
constexpr int kMaxScans = 200;

// The upper limit for Huffman-coded images: every 8×8 block needs at least one bit, and at least one
// component has a block for each 32×8 pixels.
constexpr std::uint64_t kMaxPixelsPerByte = std::uint64_t{8} * 32 * 8;

std::uint8_t product_over_255(int a, int b) {
  const int product = a * b + 128;
  return static_cast<std::uint8_t>(((product >> 8) + product) >> 8);
}

// Converts inverted CMYK, in which 255 means no ink.
void cmyk_to_rgb(const JSAMPLE* cmyk, int width, std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const int light = cmyk[3];
    for (int i = 0; i < 3; ++i)
      rgb[i] = static_cast<std::uint8_t>(light - product_over_255(255 - cmyk[i], light));
  }
}

// libjpeg reports errors by calling a function that must not return, which uses longjmp. So functions between
// setjmp and libjpeg must not have objects with destructors; longer-lived objects are members.
class JpegDecoder {
 public:
  JpegDecoder(std::string_view bytes, const std::string& name, const ImageLimits& limits)
      : name_(name), limits_(limits), size_(bytes.size()) {
    decompress_.err = jpeg_std_error(&errors_);
    decompress_.client_data = this;
    errors_.error_exit = [](j_common_ptr info) { self(info).leave(); };
    errors_.emit_message = [](j_common_ptr info, int level) { self(info).warn(level); };
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    source_.bytes_in_buffer = bytes.size();
    source_.init_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = [](j_decompress_ptr info) -> boolean { self(info).leave_at_end(); };
    source_.skip_input_data = [](j_decompress_ptr info, long count) { self(info).skip(count); };
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.term_source = [](j_decompress_ptr) {};
    progress_.progress_monitor = [](j_common_ptr info) { self(info).count_scans(); };
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&decompress_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  Image decode() {
    if (!read_header()) throw_error();
    check_size();
    cmyk_ = decompress_.num_components == 4;
    decompress_.out_color_space = cmyk_ ? JCS_CMYK : JCS_RGB;
    if (!start()) throw_error();
    Image image = blank_image(static_cast<int>(decompress_.output_width),
                              static_cast<int>(decompress_.output_height), 3);
    cmyk_row_.resize(cmyk_ ? decompress_.output_width * 4 : 0);
    if (!read_rows(image)) throw_error();
    return image;  // ignores everything after the last row, including a missing end marker
  }

 private:
  static JpegDecoder& self(j_common_ptr info) { return *static_cast<JpegDecoder*>(info->client_data); }
  static JpegDecoder& self(j_decompress_ptr info) { return *static_cast<JpegDecoder*>(info->client_data); }

  bool read_header() {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&decompress_);
    decompress_.src = &source_;
    decompress_.progress = &progress_;
    jpeg_read_header(&decompress_, TRUE);
    return true;
  }

  bool start() {
    if (setjmp(jump_) != 0) return false;
    jpeg_start_decompress(&decompress_);
    return true;
  }

  bool read_rows(Image& image) {
    if (setjmp(jump_) != 0) return false;
    while (decompress_.output_scanline < decompress_.output_height) {
      std::uint8_t* row = image.pixels.data() + decompress_.output_scanline * row_bytes(image);
      JSAMPROW into = cmyk_ ? cmyk_row_.data() : row;
      jpeg_read_scanlines(&decompress_, &into, 1);
      if (cmyk_) cmyk_to_rgb(cmyk_row_.data(), image.width, row);
    }
    return true;
  }

  void check_size() const {
    const std::uint64_t width = decompress_.image_width, height = decompress_.image_height;
    check_image_size(width, height, name_, limits_);
    if (decompress_.arith_code == 0 && width * height / kMaxPixelsPerByte > size_) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("damaged JPEG: {} bytes cannot contain {} x {} pixels", size_, width, height),
                  name_);
    }
  }

  [[noreturn]] void leave() { std::longjmp(jump_, 1); }

  [[noreturn]] void leave_at_end() {
    decompress_.err->msg_code = JERR_INPUT_EOF;
    leave();
  }

  void skip(long count) {
    if (count <= 0) return;
    if (static_cast<unsigned long>(count) > source_.bytes_in_buffer) leave_at_end();
    source_.next_input_byte += count;
    source_.bytes_in_buffer -= static_cast<std::size_t>(count);
  }

  // After most warnings libjpeg continues with wrong pixels, so they are errors here. Three warnings are
  // harmless: padding between segments, which cameras write, and unknown version numbers.
  void warn(int level) {
    if (level >= 0) return;  // a trace message
    const int code = errors_.msg_code;
    if (code != JWRN_EXTRANEOUS_DATA && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM) leave();
  }

  void count_scans() {
    if (decompress_.input_scan_number <= kMaxScans) return;
    too_many_scans_ = true;
    leave();
  }

  [[noreturn]] void throw_error() {
    if (too_many_scans_) {
      throw Error(ErrorCode::kBadInput, fmt::format("JPEG with more than {} scans; save it again", kMaxScans),
                  name_);
    }
    if (errors_.msg_code == JERR_INPUT_EOF)
      throw Error(ErrorCode::kBadInput, "the JPEG file ends too early; get a complete copy", name_);
    char text[JMSG_LENGTH_MAX];
    errors_.format_message(reinterpret_cast<j_common_ptr>(&decompress_), text);
    if (is_beyond_libjpeg()) {
      throw Error(ErrorCode::kUnsupported, fmt::format("unsupported kind of JPEG: {}; convert it", text),
                  name_);
    }
    throw Error(ErrorCode::kBadInput, fmt::format("damaged JPEG: {}", text), name_);
  }

  bool is_beyond_libjpeg() const {
    switch (errors_.msg_code) {
      case JERR_SOF_UNSUPPORTED:
      case JERR_BAD_PRECISION:
      case JERR_CONVERSION_NOTIMPL:
      case JERR_ARITH_NOTIMPL:
      case JERR_NOT_COMPILED:
      case JERR_CCIR601_NOTIMPL:
      case JERR_FRACT_SAMPLE_NOTIMPL: return true;
      default: return false;
    }
  }

  const std::string& name_;
  const ImageLimits& limits_;
  const std::size_t size_;
  jpeg_decompress_struct decompress_{};
  jpeg_error_mgr errors_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_{};
  bool cmyk_ = false;
  bool too_many_scans_ = false;
  std::vector<JSAMPLE> cmyk_row_;
};

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

Image decode_jpeg(std::string_view bytes, const std::string& name, const ImageLimits& limits) {
  return JpegDecoder(bytes, name, limits).decode();
}

namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);

// The maximum compression ratio of deflate.
constexpr std::uint64_t kMaxBytesPerCompressedByte = 1032;

// As in Pillow, values above 255 are clipped, not scaled.
std::uint8_t clip_grey16(const std::uint8_t* big_endian) { return big_endian[0] != 0 ? 255 : big_endian[1]; }

// libpng reports errors by calling a function that must not return, which uses longjmp. So functions between
// setjmp and libpng must not have objects with destructors; longer-lived objects are members.
class PngDecoder {
 public:
  PngDecoder(std::string_view bytes, const std::string& name, const ImageLimits& limits)
      : name_(name), limits_(limits), size_(bytes.size()), rest_(bytes) {}
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  Image decode() {
    if (!create() || !read_header()) throw_error();
    check_size();
    if (!start()) throw_error();
    Image image = blank_image(static_cast<int>(png_get_image_width(png_, info_)),
                              static_cast<int>(png_get_image_height(png_, info_)), 3);
    if (is_grey16()) grey16_.resize(image.pixels.size() / 3 * 2);
    point_rows_into(image);
    if (!read_rows()) throw_error();
    if (is_grey16()) widen_grey16(image);
    return image;
  }

 private:
  static PngDecoder& self(png_structp png) { return *static_cast<PngDecoder*>(png_get_error_ptr(png)); }

  bool create() {
    if (setjmp(jump_) != 0) return false;
    png_ = png_create_read_struct(
        PNG_LIBPNG_VER_STRING, this, [](png_structp png, png_const_charp text) { self(png).leave(text); },
        [](png_structp png, png_const_charp text) { self(png).warn(text); });
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    return info_ != nullptr;
  }

  bool read_header() {
    if (setjmp(jump_) != 0) return false;
    png_set_read_fn(png_, this, [](png_structp png, png_bytep to, std::size_t count) {
      static_cast<PngDecoder*>(png_get_io_ptr(png))->read(to, count);
    });
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);      // check_size() applies the limit
    png_set_chunk_malloc_max(png_, std::max<std::size_t>(size_, 1));  // no valid chunk is larger
    skip_metadata();
    png_read_info(png_, info_);
    return true;
  }

  // Metadata does not affect the pixels, so it is not parsed, inflated or kept.
  void skip_metadata() {
    static constexpr png_byte kTransparency[] = "tRNS";
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kTransparency, 1);
  }

  bool start() {
    if (setjmp(jump_) != 0) return false;
    png_set_interlace_handling(png_);
    if (!is_grey16()) convert_to_rgb();
    png_read_update_info(png_, info_);
    return true;
  }

  void convert_to_rgb() {
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_gray_to_rgb(png_);
  }

  bool is_grey16() const {
    return png_get_bit_depth(png_, info_) == 16 && png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY;
  }

  void point_rows_into(Image& image) {
    std::uint8_t* first = is_grey16() ? grey16_.data() : image.pixels.data();
    const std::size_t stride = is_grey16() ? static_cast<std::size_t>(image.width) * 2 : row_bytes(image);
    rows_.resize(static_cast<std::size_t>(image.height));
    for (std::size_t y = 0; y < rows_.size(); ++y) rows_[y] = first + y * stride;
  }

  bool read_rows() {
    if (setjmp(jump_) != 0) return false;
    png_read_image(png_, rows_.data());
    png_read_end(png_, nullptr);  // verifies the checksum after the pixels
    return true;
  }

  void widen_grey16(Image& image) const {
    for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = clip_grey16(&grey16_[i / 3 * 2]);
  }

  void check_size() const {
    const std::uint64_t width = png_get_image_width(png_, info_), height = png_get_image_height(png_, info_);
    check_image_size(width, height, name_, limits_);
    if (png_get_rowbytes(png_, info_) * height / kMaxBytesPerCompressedByte > size_) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("damaged PNG: {} bytes cannot contain {} x {} pixels", size_, width, height),
                  name_);
    }
  }

  void read(png_bytep to, std::size_t count) {
    if (count > rest_.size()) leave("the file ends too early; get a complete copy");
    std::memcpy(to, rest_.data(), count);
    rest_.remove_prefix(count);
  }

  // Warnings about compressed pixels mean that some are missing or wrong. Other warnings are about metadata.
  void warn(png_const_charp text) {
    if (std::string_view(text).starts_with("IDAT")) leave(text);
  }

  [[noreturn]] void leave(png_const_charp text) {
    const std::size_t length = std::min(std::strlen(text), sizeof problem_ - 1);
    std::memcpy(problem_, text, length);
    problem_[length] = '\0';
    std::longjmp(jump_, 1);
  }

  [[noreturn]] void throw_error() const {
    throw Error(ErrorCode::kBadInput, fmt::format("damaged PNG: {}", problem_), name_);
  }

  const std::string& name_;
  const ImageLimits& limits_;
  const std::size_t size_;
  std::string_view rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_{};
  char problem_[200] = "out of memory";
  std::vector<png_bytep> rows_;
  std::vector<std::uint8_t> grey16_;
};

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with(kSignature); }

Image decode_png(std::string_view bytes, const std::string& name, const ImageLimits& limits) {
  return PngDecoder(bytes, name, limits).decode();
}

namespace {

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24U), static_cast<char>(value >> 16U), static_cast<char>(value >> 8U),
          static_cast<char>(value)};
}

// A chunk: length, kind, content, and a checksum of the last two.
std::string chunk(const std::string& kind, const std::string& content) {
  const std::string summed = kind + content;
  const uLong sum =
      ::crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + summed +
         big_endian(static_cast<std::uint32_t>(sum));
}

// Filters the rows. Every row begins with its filter number: 1 (Sub), which suits images.
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
  if (code != Z_OK) throw Error(ErrorCode::kIo, "out of memory while writing a PNG image");
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
  header += std::string(3, '\0');  // compression method 0, filter method 0, not interlaced
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", deflated(filtered_rows(image))) +
         chunk("IEND", "");
}

// The image decoders and the encoder of image.h. The app library does not need them, because its pixels come
// from a camera.

namespace {

Image decode_rgb(std::string_view bytes, const std::string& name, const ImageLimits& limits) {
  if (is_jpeg(bytes)) return decode_jpeg(bytes, name, limits);
  if (is_png(bytes)) return decode_png(bytes, name, limits);
  throw Error(ErrorCode::kBadInput, "neither a JPEG nor a PNG file; convert the image to one of them", name);
}

}  // namespace

Image decode_image(std::string_view bytes, const std::string& name, ColorMode mode,
                   const ImageLimits& limits) {
  Image rgb = decode_rgb(bytes, name, limits);
  return mode == ColorMode::kGrey ? in_grey(rgb) : rgb;
}

}  // namespace ounce::data
