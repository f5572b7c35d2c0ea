#include "data/image/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>

#include <optional>
#include <random>

#include "goldens/image_goldens.h"
#include "support/error_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using testing::HasSubstr;

// Returns nothing if the bytes were refused as bad input. Any other error fails the test.
std::optional<Image> decoded(const std::string& bytes, const ImageLimits& limits = {}) {
  try {
    return decode_image(bytes, "sample", ColorMode::kRgb, limits);
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::kBadInput || error.code() == ErrorCode::kUnsupported)
        << error.what();
    EXPECT_EQ(error.where(), "sample");
    return std::nullopt;
  }
}

bool is_png_name(const std::string& name) { return name.ends_with(".png"); }

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320U & (0U - (crc & 1U)));
  }
  return ~crc;
}

std::string big_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

// A valid PNG whose header claims another size.
std::string png_claiming(std::uint32_t width, std::uint32_t height) {
  std::string bytes = golden_bytes("rgb8.png");
  bytes.replace(16, 8, big_endian(width, 4) + big_endian(height, 4));
  return bytes.replace(29, 4, big_endian(crc32(std::string_view(bytes).substr(12, 17)), 4));
}

std::string jpeg_claiming(const std::string& name, std::uint32_t width, std::uint32_t height) {
  std::string bytes = golden_bytes(name);
  for (const char* start : {"\xff\xc0", "\xff\xc2"}) {
    if (const auto at = bytes.find(start); at != std::string::npos)
      bytes.replace(at + 5, 4, big_endian(height, 2) + big_endian(width, 2));
  }
  return bytes;
}

// Corrects the checksum of every chunk, so that libpng reads its content.
std::string with_checksums(std::string png) {
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(png[at])}; };
  for (std::size_t at = 8; at + 12 <= png.size();) {
    const std::size_t length = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    if (length > png.size() - at - 12) break;
    png.replace(at + 8 + length, 4, big_endian(crc32(std::string_view(png).substr(at + 4, length + 4)), 4));
    at += length + 12;
  }
  return png;
}

TEST(Image, EveryKindOfFileHasThePixelsThatPillowSees) {
  const auto goldens = decoded_goldens();
  ASSERT_GT(goldens.size(), 20U);
  for (const DecodedGolden& golden : goldens) {
    EXPECT_EQ(difference(decode_image(golden_bytes(golden.file), golden.file), golden.pixels(3)), "")
        << golden.file;
  }
}

TEST(Image, GreyIsPillowsGrey) {
  for (const DecodedGolden& golden : decoded_goldens()) {
    EXPECT_EQ(
        difference(decode_image(golden_bytes(golden.file), golden.file, ColorMode::kGrey), golden.pixels(1)),
        "")
        << golden.file;
  }
}

TEST(Image, ATruncatedFileIsNeverDecodedToSomethingElse) {
  for (const DecodedGolden& golden : decoded_goldens()) {
    const std::string whole = golden_bytes(golden.file);
    const Image expected = golden.pixels(3);
    for (std::size_t size = 0; size < whole.size(); size += size + 24 < whole.size() ? 5U : 1U) {
      const auto image = decoded(whole.substr(0, size));
      // The end marker of a JPEG, and bytes before it that do not affect pixels, may be missing.
      if (is_png_name(golden.file) || size + 4 < whole.size()) {
        EXPECT_FALSE(image) << golden.file << " cut to " << size;
      } else if (image) {
        EXPECT_EQ(*image, expected) << golden.file << " cut to " << size;
      }
    }
  }
}

TEST(Image, ATruncatedFileSaysSo) {
  const std::string jpeg = golden_bytes("jpeg_420.jpg"), png = golden_bytes("rgb8.png");
  EXPECT_THAT(error_of([&] { decode_image(jpeg.substr(0, jpeg.size() / 2), "a.jpg"); }).what(),
              HasSubstr("ends too early"));
  EXPECT_THAT(error_of([&] { decode_image(png.substr(0, png.size() / 2), "a.png"); }).what(),
              HasSubstr("ends too early"));
}

TEST(Image, WhatIsNoImageIsRefused) {
  for (const std::string bytes : {"", "\xff", "GIF89a, long gone", "\x89PNG"}) {
    const Error error = error_of([&] { decode_image(bytes, "x.gif"); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("neither a JPEG nor a PNG"));
    EXPECT_EQ(error.where(), "x.gif");
  }
  EXPECT_FALSE(decoded("\xff\xd8\xff"));
  EXPECT_FALSE(decoded("\xff\xd8\xff" + std::string(1000, 'x')));
  EXPECT_FALSE(decoded("\x89PNG\r\n\x1a\n" + std::string(1000, 'x')));
}

TEST(Image, AClaimOfManyPixelsCostsNoMemory) {
  for (const std::string& bytes :
       {png_claiming(65535, 65535), png_claiming(0x7fffffff, 0x7fffffff), png_claiming(1, 0x7fffffff),
        png_claiming(16000, 16000), jpeg_claiming("jpeg_420.jpg", 65535, 65535),
        jpeg_claiming("jpeg_420_progressive.jpg", 65535, 65535), jpeg_claiming("jpeg_420.jpg", 16000, 16000),
        jpeg_claiming("jpeg_420_progressive.jpg", 16000, 16000), png_claiming(0, 5),
        jpeg_claiming("jpeg_420.jpg", 0, 5)})
    EXPECT_FALSE(decoded(bytes));
}

TEST(Image, PicturesLargerThanTheBudgetAreRefused) {
  EXPECT_NO_THROW(check_image_size(8192, 8192, "large.png"));
  const Error error = ounce::test::error_of([] { check_image_size(12'000, 12'000, "large.png"); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), testing::HasSubstr("at most 67108864 pixels"));
}

TEST(Image, TheLimitOfPixelsIsTheCallers) {
  for (const char* name : {"rgb8.png", "jpeg_420.jpg"}) {
    const std::string bytes = golden_bytes(name);  // 37 x 23 pixels
    EXPECT_FALSE(decoded(bytes, {850}));
    EXPECT_TRUE(decoded(bytes, {851}));
  }
}

TEST(Image, WrongPixelsInAPngAreNoticed) {
  const std::string whole = golden_bytes("rgb8.png");
  const std::size_t pixels = whole.find("IDAT") + 4;
  for (std::size_t i = pixels; i < whole.find("tEXt") - 4; i += 3) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_FALSE(decoded(damaged)) << "byte " << i;
  }
}

TEST(Image, ALostPieceOfAJpegIsNoticed) {
  std::string bytes = golden_bytes("jpeg_420_restart.jpg");
  const std::size_t second = bytes.find("\xff\xd1");
  ASSERT_NE(second, std::string::npos);
  bytes[second + 1] = '\xd3';
  EXPECT_THAT(error_of([&] { decode_image(bytes, "a.jpg"); }).what(), HasSubstr("damaged JPEG"));
}

TEST(Image, BytesThatNoPixelDependsOnMayBeBroken) {
  const Image jpeg_pixels = decode_image(golden_bytes("jpeg_420.jpg"), "a.jpg");
  std::string jpeg = golden_bytes("jpeg_420.jpg");
  jpeg.insert(jpeg.find("\xff\xdb"), "filling");
  jpeg += "a trailer";
  EXPECT_EQ(decode_image(jpeg, "a.jpg"), jpeg_pixels);

  const Image png_pixels = decode_image(golden_bytes("rgb8.png"), "a.png");
  std::string png = golden_bytes("rgb8.png");
  png[png.find("tEXt") + 6] = 'X';  // its checksum is wrong now
  png += "a trailer";
  EXPECT_EQ(decode_image(png, "a.png"), png_pixels);
}

// For AddressSanitizer.
TEST(Image, MutatedFilesAreDecodedOrRefused) {
#ifdef OUNCE_IMAGE_MUTATIONS
  constexpr int kMutations = OUNCE_IMAGE_MUTATIONS;
#else
  constexpr int kMutations = 200;
#endif
  std::mt19937 random(1);
  const auto below = [&](std::size_t end) { return random() % end; };
  const auto mutate = [&](std::string& bytes) {
    const std::size_t at = below(bytes.size());
    switch (below(16)) {
      case 0: bytes.erase(at, 1 + below(16)); break;
      case 1: bytes.insert(at, bytes.substr(below(bytes.size()), below(64))); break;
      default: bytes[at] = static_cast<char>(random());
    }
  };
  for (const DecodedGolden& golden : decoded_goldens()) {
    const std::string whole = golden_bytes(golden.file);
    for (int i = 0; i < kMutations; ++i) {
      std::string bytes = whole;
      for (std::size_t edits = 1 + below(4); edits > 0; --edits) mutate(bytes);
      const auto image = decoded(is_png_name(golden.file) ? with_checksums(bytes) : bytes, {1 << 20});
      if (!image) continue;
      EXPECT_EQ(image->pixels.size(), row_bytes(*image) * static_cast<std::size_t>(image->height));
    }
  }
}

}  // namespace
}  // namespace ounce::data
