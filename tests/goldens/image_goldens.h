// For tests: the pictures of tests/goldens/images, and what Pillow and OpenCV made of them.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "data/image/image.h"
#include "support/temporary_folder.h"

namespace ounce::data {

inline std::string golden_path(const std::string& name) {
  return std::string(OUNCE_TEST_GOLDENS) + "/images/" + name;
}

inline std::string golden_bytes(const std::string& name) { return ounce::test::read_file(golden_path(name)); }

// The lines of a list, each ready to be taken apart with >>.
inline std::vector<std::istringstream> golden_lines(const std::string& name) {
  std::ifstream file(golden_path(name));
  std::vector<std::istringstream> lines;
  for (std::string line; std::getline(file, line);) lines.emplace_back(line);
  return lines;
}

struct DecodedGolden {
  std::string file;
  int width = 0, height = 0;

  Image pixels(int channels) const {
    const std::string stem = file.substr(0, file.rfind('.'));
    const std::string raw = golden_bytes(stem + (channels == 3 ? ".rgb" : ".grey"));
    return {width, height, channels, {raw.begin(), raw.end()}};
  }
};

inline std::vector<DecodedGolden> decoded_goldens() {
  std::vector<DecodedGolden> goldens;
  for (std::istringstream& line : golden_lines("decode.txt")) {
    DecodedGolden& golden = goldens.emplace_back();
    line >> golden.file >> golden.width >> golden.height;
  }
  return goldens;
}

// Where the first difference is, for a person to look at.
inline std::string difference(const Image& actual, const Image& expected) {
  if (actual == expected) return {};
  std::ostringstream text;
  text << actual.width << "x" << actual.height << "x" << actual.channels << " instead of " << expected.width
       << "x" << expected.height << "x" << expected.channels;
  for (std::size_t i = 0; i < actual.pixels.size() && i < expected.pixels.size(); ++i) {
    if (actual.pixels[i] == expected.pixels[i]) continue;
    text << ", byte " << i << ": " << int{actual.pixels[i]} << " instead of " << int{expected.pixels[i]};
    break;
  }
  return text.str();
}

// The results of one method of one library on resize.png, in the order of resize.txt.
struct ResizedGolden {
  std::string method;
  Image pixels;
};

inline std::vector<ResizedGolden> resized_goldens(const std::string& wanted_library) {
  std::vector<ResizedGolden> goldens;
  std::string open_method, raw;
  std::size_t position = 0;
  for (std::istringstream& line : golden_lines("resize.txt")) {
    std::string library, method;
    int channels = 0, width = 0, height = 0;
    line >> library >> method >> channels >> width >> height;
    if (library != wanted_library) continue;
    if (method != open_method) {
      open_method = method;
      raw = golden_bytes(library + "_" + method + ".bin");
      position = 0;
    }
    Image pixels = blank_image(width, height, channels);
    for (std::uint8_t& value : pixels.pixels) value = static_cast<std::uint8_t>(raw.at(position++));
    goldens.push_back({method, std::move(pixels)});
  }
  return goldens;
}

// Larger results, as digests only.
struct LargeGolden {
  std::string method;
  int channels = 0, from_width = 0, from_height = 0, width = 0, height = 0;
  std::string digest;

  // The same formula as in make_image_goldens.py.
  Image source() const {
    Image image = blank_image(from_width, from_height, channels);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      auto value = static_cast<std::uint32_t>(i * 2654435761U + 12345U);
      value = (value ^ (value >> 15)) * 2246822519U;
      image.pixels[i] = static_cast<std::uint8_t>(value >> 24);
    }
    return image;
  }
};

inline std::vector<LargeGolden> large_goldens(const std::string& wanted_library) {
  std::vector<LargeGolden> goldens;
  for (std::istringstream& line : golden_lines("resize_large.txt")) {
    std::string library;
    LargeGolden golden;
    line >> library >> golden.method >> golden.channels >> golden.from_width >> golden.from_height >>
        golden.width >> golden.height >> golden.digest;
    if (library == wanted_library) goldens.push_back(golden);
  }
  return goldens;
}

inline std::string fnv1a(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t digest = 0xcbf29ce484222325U;
  for (const std::uint8_t byte : bytes) digest = (digest ^ byte) * 0x100000001b3U;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

}  // namespace ounce::data
