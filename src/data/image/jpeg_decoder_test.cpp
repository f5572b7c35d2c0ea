#include "data/image/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

// libjpeg's headers require <cstdio> before them.
#include <jpeglib.h>

#include "support/error_of.h"

namespace ounce::data {
namespace {

using testing::HasSubstr;

// A 16×16 image with one scan per component.
std::string jpeg_of_three_scans(int components = 3) {
  jpeg_compress_struct compress{};
  jpeg_error_mgr errors{};
  compress.err = jpeg_std_error(&errors);
  jpeg_create_compress(&compress);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&compress, &bytes, &size);
  compress.image_width = compress.image_height = 16;
  compress.input_components = components;
  compress.in_color_space = components == 3 ? JCS_RGB : JCS_UNKNOWN;
  jpeg_set_defaults(&compress);
  jpeg_scan_info scans[3] = {};
  for (int i = 0; i < components; ++i) scans[i] = {1, {i, 0, 0, 0}, 0, 63, 0, 0};
  compress.scan_info = scans;
  compress.num_scans = components;
  jpeg_start_compress(&compress, TRUE);
  std::vector<JSAMPLE> row(16 * static_cast<std::size_t>(components), 100);
  for (int y = 0; y < 16; ++y) {
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&compress, &pointer, 1);
  }
  jpeg_finish_compress(&compress);
  jpeg_destroy_compress(&compress);
  std::string result(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return result;
}

// Repeats the last scan: each repetition costs a pass over the image, but only a few bytes.
std::string with_more_scans(std::string bytes, int count) {
  const std::size_t last = bytes.rfind("\xff\xda"), end = bytes.rfind("\xff\xd9");
  const std::string scan = bytes.substr(last, end - last);
  for (int i = 0; i < count; ++i) bytes.insert(end, scan);
  return bytes;
}

TEST(JpegDecoder, ScansOfOneComponentAreRead) {
  const Image image = decode_jpeg(jpeg_of_three_scans(), "a.jpg", {});
  EXPECT_EQ(image.pixels, std::vector<std::uint8_t>(768, 100));
}

TEST(JpegDecoder, ScansWithoutEndAreRefused) {
  EXPECT_EQ(decode_jpeg(with_more_scans(jpeg_of_three_scans(), 50), "a.jpg", {}).width, 16);
  const Error error =
      ounce::test::error_of([] { decode_jpeg(with_more_scans(jpeg_of_three_scans(), 5000), "a.jpg", {}); });
  EXPECT_THAT(error.what(), HasSubstr("more than 200 scans"));
}

TEST(JpegDecoder, TwoColoursAreNotSupported) {
  const Error error = ounce::test::error_of([] { decode_jpeg(jpeg_of_three_scans(2), "a.jpg", {}); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(error.where(), "a.jpg");
}

}  // namespace
}  // namespace ounce::data
