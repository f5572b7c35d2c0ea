// Sound in RIFF/WAVE files, and in RF64 files, which may be larger than 4 GiB.
//
//   const WavInfo info = probe_wav("speech.wav");      // rate, channels, frames: no sound is read
//   Tensor sound = read_wav("speech.wav", 16000, 400); // 400 frames from frame 16000 on
//
// PCM of 8, 16, 24 and 32 bits and IEEE floats of 32 and 64 bits are read; compressed sound is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "data/tensor.h"

namespace ounce::data {

enum class WavCoding { kPcm, kFloat };

struct WavInfo {
  std::uint32_t rate = 0;  // frames a second
  std::uint16_t channels = 0;
  WavCoding coding = WavCoding::kPcm;
  std::uint16_t bits = 0;  // of a value
  std::uint64_t frames = 0;
  std::uint64_t data_offset = 0;

  std::uint64_t value_bytes() const { return bits / 8U; }
  std::uint64_t frame_bytes() const { return value_bytes() * channels; }
  // int16 for 16-bit sound, float32 in [-1, 1) for all other.
  ElementType type() const;
  Dims dims(std::uint64_t count) const;  // of `count` frames: [count], or [count, channels]
};

inline constexpr std::uint64_t kAllFrames = UINT64_MAX;

// Throw Error{kBadInput}; `where` is what errors call the bytes.
WavInfo probe_wav(std::string_view bytes, const std::string& where);
WavInfo probe_wav(const std::filesystem::path& path);

// `count` frames from `first` on; as many as there are with kAllFrames. Asking for frames that are not there
// is an Error{kBadInput}.
Tensor read_wav(std::string_view bytes, const std::string& where, std::uint64_t first = 0,
                std::uint64_t count = kAllFrames);
Tensor read_wav(const std::filesystem::path& path, std::uint64_t first = 0, std::uint64_t count = kAllFrames);

}  // namespace ounce::data
