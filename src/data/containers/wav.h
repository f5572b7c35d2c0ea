// Reads sound from RIFF/WAVE files, and from RF64 files, which may be larger than 4 GiB.
//
//   const WavInfo info = probe_wav("speech.wav");      // rate, channels, frames; reads no samples
//   Tensor sound = read_wav("speech.wav", 16000, 400); // 400 frames from frame 16000
//
// Supports PCM of 8, 16, 24 and 32 bits and IEEE floats of 32 and 64 bits. Compressed sound is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "data/tensor.h"

namespace ounce::data {

enum class WavCoding { kPcm, kFloat };

struct WavInfo {
  std::uint32_t rate = 0;  // frames per second
  std::uint16_t channels = 0;
  WavCoding coding = WavCoding::kPcm;
  std::uint16_t bits = 0;  // per value
  std::uint64_t frames = 0;
  std::uint64_t data_offset = 0;

  std::uint64_t value_bytes() const { return bits / 8U; }
  std::uint64_t frame_bytes() const { return value_bytes() * channels; }
  // int16 for 16-bit sound, else float32 in [-1, 1).
  ElementType type() const;
  Dims dims(std::uint64_t count) const;  // of `count` frames: [count], or [count, channels]
};

inline constexpr std::uint64_t kAllFrames = UINT64_MAX;

// Read the header. Throw Error{kBadInput}; `where` names the bytes in errors.
WavInfo probe_wav(std::string_view bytes, const std::string& where);
WavInfo probe_wav(const std::filesystem::path& path);

// Reads `count` frames from frame `first`; kAllFrames: to the end. Throws Error{kBadInput} if there are fewer
// frames.
Tensor read_wav(std::string_view bytes, const std::string& where, std::uint64_t first = 0,
                std::uint64_t count = kAllFrames);
Tensor read_wav(const std::filesystem::path& path, std::uint64_t first = 0, std::uint64_t count = kAllFrames);

}  // namespace ounce::data
