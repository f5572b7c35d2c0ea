#include "data/image/jpeg_decoder.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <csetjmp>
#include <cstdio>

// libjpeg's headers need <cstdio> before them.
#include <jerror.h>
#include <jpeglib.h>

namespace ounce::data {
namespace {

// A progressive file can ask for any number of passes over the whole picture, at ten bytes each. Encoders
// write about ten.
constexpr int kMaxScans = 200;

// No Huffman-coded picture has more pixels for a byte: every block of 8x8 costs at least a bit, and at least
// one component has a block for each 32x8 pixels.
constexpr std::uint64_t kMaxPixelsPerByte = std::uint64_t{8} * 32 * 8;

std::uint8_t product_over_255(int a, int b) {
  const int product = a * b + 128;
  return static_cast<std::uint8_t>(((product >> 8) + product) >> 8);
}

// From inverted CMYK, which holds 255 where there is no ink.
void cmyk_to_rgb(const JSAMPLE* cmyk, int width, std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const int light = cmyk[3];
    for (int i = 0; i < 3; ++i)
      rgb[i] = static_cast<std::uint8_t>(light - product_over_255(255 - cmyk[i], light));
  }
}

// libjpeg reports an error by a call that must not return. It leaves through longjmp, so the functions
// between setjmp and libjpeg hold nothing that would need a destructor; all that lives longer is a member.
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
    return image;  // what follows the last row is of no interest: not even whether the end is marked
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
                  fmt::format("damaged JPEG: {} bytes cannot hold {} x {} pixels", size_, width, height),
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

  // libjpeg goes on after a warning, with pixels that it made up. Three of them harm no pixel: filling
  // between segments, which cameras write, and version numbers that are new to it.
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
      throw Error(ErrorCode::kUnsupported, fmt::format("cannot read this kind of JPEG: {}; convert it", text),
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

}  // namespace ounce::data
