// Preprocessing in an app: turns camera pixels and microphone samples into model inputs as the model's
// contract (docs/reference/contract.md) says, with the same code that calibration and verification use.
//
//   call.set_image({.format = PixelFormat::kNv21, .width = 640, .height = 480, .planes = {y, vu}});
//   call.run();
//
//   SoundStream stream(session);                      // the model's contract cuts sound into frames
//   stream.push(samples);                             // any number of samples
//   while (stream.next(call)) call.run();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <ounce/app/session.h>

namespace ounce::app {

enum class PixelFormat {
  kRgba,
  kBgra,
  kRgb,
  kBgr,
  kGrey,
  kNv12,  // a plane of Y, then a plane of interleaved Cb and Cr, one pair for each 2 × 2 pixels
  kNv21,  // as NV12, but Cr before Cb: Android's cameras
};

// The value range of NV12 and NV21.
enum class YuvRange {
  kFull,     // 0 … 255: JPEG and cameras; converted to RGB exactly as libjpeg does
  kLimited,  // 16 … 235: video (BT.601)
};

struct Pixels {
  PixelFormat format = PixelFormat::kRgba;
  int width = 0, height = 0;  // before rotation
  std::array<const std::uint8_t*, 2> planes = {};
  std::array<std::size_t, 2> strides = {};  // bytes from one row to the next; 0: rows without padding
  int rotation = 0;  // clockwise degrees that make the image upright: 0, 90, 180 or 270
  YuvRange range = YuvRange::kFull;
};

struct Sound {
  // Set exactly one: 16-bit samples, or floats from -1 to 1 if the contract was made from float data.
  std::span<const std::int16_t> samples = {};
  std::span<const float> floats = {};
  int channels = 1;  // interleaved
  double rate = 0;   // samples per second; must equal the contract's rate. 0: not checked
};

// Cuts a stream of samples into the frames of an input's contract. Frames overlap if the contract's hop is
// shorter than its frame.
class SoundStream {
 public:
  // Throws Failure{kNoContract}, or Failure{kUsage} if the contract has no frames.
  explicit SoundStream(const Session& session, std::string input = {});
  ~SoundStream();
  SoundStream(SoundStream&&) noexcept;
  SoundStream& operator=(SoundStream&&) noexcept;

  // Appends samples of one channel at the contract's rate. Do not mix the two types in one stream.
  void push(std::span<const std::int16_t> samples);
  void push(std::span<const float> samples);
  // Fills the input with the next frame. Returns false if not enough samples were pushed yet.
  bool next(Call& call);
  void reset();  // drops all samples, to start another recording

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ounce::app
