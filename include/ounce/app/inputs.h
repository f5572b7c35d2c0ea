// The preprocessing contract in an app: pixels of a camera and samples of a microphone become a model's input
// by the code that calibrated and judged the model.
//
//   call.set_image({.format = PixelFormat::kNv21, .width = 640, .height = 480, .planes = {y, vu}, .rotation =
//   90}); call.run();
//
//   SoundStream stream(session);                      // a model whose contract cuts sound into frames
//   stream.push(samples);                             // as many as there are
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
  kNv12,  // brightness, then blue and red differences in turn, one pair for four pixels
  kNv21,  // likewise, red first: Android's cameras
};

// What the numbers of NV12 and NV21 mean.
enum class YuvRange {
  kFull,     // 0 … 255, as JPEG and cameras have it; the pixels are those of libjpeg
  kLimited,  // 16 … 235, as video has it (BT.601)
};

struct Pixels {
  PixelFormat format = PixelFormat::kRgba;
  int width = 0, height = 0;  // as they lie in memory
  std::array<const std::uint8_t*, 2> planes = {};
  std::array<std::size_t, 2> strides = {};  // bytes from one row to the next; 0: without gaps
  int rotation = 0;  // degrees to turn it clockwise until it is upright: 0, 90, 180, 270
  YuvRange range = YuvRange::kFull;
};

struct Sound {
  // One of them: 16-bit samples, or floats from -1 to 1 where the contract was made with such.
  std::span<const std::int16_t> samples = {};
  std::span<const float> floats = {};
  int channels = 1;  // beside each other
  double rate = 0;   // samples a second; the contract refuses another one than its own. 0: nobody asks
};

// Sound as it comes, in frames as the contract of an input says: each begins with what lies before it.
class SoundStream {
 public:
  // Throws Failure{kNoContract}, or Failure{kUsage} when the contract has no frames.
  explicit SoundStream(const Session& session, std::string input = {});
  ~SoundStream();
  SoundStream(SoundStream&&) noexcept;
  SoundStream& operator=(SoundStream&&) noexcept;

  // One channel, at the contract's rate. All of one kind.
  void push(std::span<const std::int16_t> samples);
  void push(std::span<const float> samples);
  // Fills the input with the next frame; false when there is none yet.
  bool next(Call& call);
  void reset();  // another recording

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ounce::app
