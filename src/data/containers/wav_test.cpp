#include "data/containers/wav.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfloat>

#include "support/archive_bytes.h"
#include "support/error_of.h"
#include "support/mutations.h"
#include "support/temporary_folder.h"

namespace ounce::data {
namespace {

using namespace test;
using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr unsigned kPcm = 1, kFloat = 3;

std::string chunk(const std::string& kind, const std::string& bytes) {
  return kind + little_endian(bytes.size(), 4) + bytes + std::string(bytes.size() % 2, '\0');
}

std::string format(unsigned tag, unsigned channels, unsigned bits, unsigned rate = 8000) {
  const unsigned frame = channels * bits / 8;
  return little_endian(tag, 2) + little_endian(channels, 2) + little_endian(rate, 4) +
         little_endian(std::uint64_t{rate} * frame, 4) + little_endian(frame, 2) + little_endian(bits, 2);
}

std::string extensible(unsigned tag, unsigned channels, unsigned bits) {
  return format(0xfffe, channels, bits) + little_endian(22, 2) + little_endian(bits, 2) +
         little_endian(0, 4) + little_endian(tag, 2) +
         std::string("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
}

std::string riff(const std::string& chunks) { return chunk("RIFF", "WAVE" + chunks); }

std::string wav(const std::string& format_bytes, const std::string& data) {
  return riff(chunk("fmt ", format_bytes) + chunk("data", data));
}

Tensor read_sound(const std::string& bytes) { return read_wav(bytes, "x.wav"); }

std::string sound_refusal(const std::string& bytes) {
  const Error error = error_of([&] { read_sound(bytes); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  return error.what();
}

std::filesystem::path golden_sound(const std::string& name) {
  return std::filesystem::path(OUNCE_TEST_GOLDENS) / "arrays" / name;
}

TEST(WavTest, ReadsWhatPythonWrote) {
  const WavInfo info = probe_wav(golden_sound("stereo16.wav"));
  EXPECT_EQ(info.rate, 16000U);
  EXPECT_EQ(info.channels, 2);
  EXPECT_EQ(info.bits, 16);
  EXPECT_EQ(info.frames, 3U);
  const Tensor stereo = read_wav(golden_sound("stereo16.wav"));
  EXPECT_EQ(stereo.type, ElementType::kInt16);
  EXPECT_EQ(stereo.dims, (Dims{3, 2}));
  EXPECT_THAT(values_of<std::int16_t>(stereo), ElementsAre(0, -32768, 1, 32767, -2, 256));
  const Tensor mono = read_wav(golden_sound("mono24.wav"));
  EXPECT_EQ(mono.dims, Dims{3});
  EXPECT_THAT(values_of<float>(mono), ElementsAre(-1.0F, 8388607.0F / 8388608.0F, 0.5F));
}

TEST(WavTest, ScalesPcmToOne) {
  EXPECT_THAT(values_of<float>(read_sound(wav(format(kPcm, 1, 8), std::string("\x00\x80\xff\xc0", 4)))),
              ElementsAre(-1.0F, 0.0F, 127.0F / 128.0F, 0.5F));
  // The largest 32-bit value would round to 1 as a float, but the result must be less than 1.
  const Tensor wide =
      read_sound(wav(format(kPcm, 1, 32), bytes_of<std::int32_t>({INT32_MIN, INT32_MAX, 1 << 30, -1})));
  EXPECT_THAT(values_of<float>(wide), ElementsAre(-1.0F, 1.0F - FLT_EPSILON / 2, 0.5F, -0x1p-31F));
}

TEST(WavTest, ReadsFloats) {
  EXPECT_THAT(values_of<float>(read_sound(wav(format(kFloat, 1, 32), bytes_of<float>({0.25F, -2.0F})))),
              ElementsAre(0.25F, -2.0F));
  EXPECT_THAT(values_of<float>(read_sound(wav(format(kFloat, 1, 64), bytes_of<double>({0.25, 1e300})))),
              ElementsAre(0.25F, FLT_MAX));
}

TEST(WavTest, ReadsExtensibleFormats) {
  EXPECT_EQ(read_sound(wav(extensible(kPcm, 1, 16), "abcd")).bytes, "abcd");
  EXPECT_EQ(probe_wav(wav(extensible(kFloat, 1, 32), "abcd"), "x").coding, WavCoding::kFloat);
  EXPECT_THAT(sound_refusal(wav(extensible(2, 1, 16), "abcd")),
              HasSubstr("compressed sound (format 0x0002)"));
  std::string other = extensible(kPcm, 1, 16);
  other.back() = 'x';
  EXPECT_THAT(sound_refusal(wav(other, "abcd")), HasSubstr("compressed sound (format 0xfffe)"));
  EXPECT_THAT(sound_refusal(wav(extensible(kPcm, 1, 16).substr(0, 30), "abcd")),
              HasSubstr("format is too short"));
}

TEST(WavTest, SkipsOtherChunksAndTheirPadding) {
  const std::string bytes = riff(chunk("LIST", "odd") + chunk("fmt ", format(kPcm, 1, 16)) +
                                 chunk("fact", "1234") + chunk("data", "abcd") + chunk("LIST", "behind"));
  EXPECT_EQ(read_sound(bytes).bytes, "abcd");
}

TEST(WavTest, ThePaddingOfTheLastChunkMayLack) {
  std::string bytes = wav(format(kPcm, 1, 8), "abc");
  EXPECT_EQ(read_sound(bytes).dims, Dims{3});
  bytes.pop_back();
  bytes.replace(4, 4, little_endian(bytes.size() - 8, 4));
  EXPECT_EQ(read_sound(bytes).dims, Dims{3});
}

TEST(WavTest, WhatFollowsTheFileIsNotItsSound) {
  EXPECT_EQ(read_sound(wav(format(kPcm, 1, 8), "abcd") + "something else").dims, Dims{4});
}

TEST(WavTest, ReadsARangeOfFrames) {
  const std::string bytes = wav(format(kPcm, 2, 16), "aabbccddeeff");
  const Tensor tensor = read_wav(bytes, "x", 1, 2);
  EXPECT_EQ(tensor.dims, (Dims{2, 2}));
  EXPECT_EQ(tensor.bytes, "ccddeeff");
  EXPECT_EQ(read_wav(bytes, "x", 2).bytes, "eeff");
  EXPECT_EQ(read_wav(bytes, "x", 3).dims, (Dims{0, 2}));
  EXPECT_STREQ(error_of([&] { read_wav(bytes, "x", 2, 2); }).what(),
               "x: has 3 frames, but 2 frames from frame 2 were requested");
  EXPECT_THROW(read_wav(bytes, "x", 4), Error);
  EXPECT_THROW(read_wav(bytes, "x", 1, UINT64_MAX - 1), Error);
  EXPECT_THROW(read_wav(bytes, "x", UINT64_MAX, 1), Error);
}

TEST(WavTest, SoundMayBeEmpty) { EXPECT_EQ(read_sound(wav(format(kPcm, 1, 16), "")).dims, Dims{0}); }

std::string rf64(std::uint64_t riff_size, std::uint64_t data_size) {
  const std::string sizes =
      little_endian(riff_size, 8) + little_endian(data_size, 8) + little_endian(2, 8) + little_endian(0, 4);
  return "RF64\xff\xff\xff\xffWAVE" + chunk("ds64", sizes) + chunk("fmt ", format(kPcm, 1, 16)) +
         "data\xff\xff\xff\xff" + "abcd";
}

TEST(WavTest, ReadsRf64) {
  const std::uint64_t size = rf64(0, 4).size() - 8;
  EXPECT_EQ(read_sound(rf64(size, 4)).bytes, "abcd");
  EXPECT_THAT(sound_refusal(rf64(size, 6)), HasSubstr("is truncated"));
  EXPECT_THAT(sound_refusal(rf64(size + 1, 4)), HasSubstr("is truncated"));
  sound_refusal(rf64(0, 4));
  sound_refusal(rf64(UINT64_MAX, UINT64_MAX));
}

TEST(WavTest, RefusesWhatIsNotSoundItCanRead) {
  EXPECT_THAT(sound_refusal("RIFX    WAVE"), HasSubstr("its first bytes are wrong"));
  EXPECT_THAT(sound_refusal("RIFF"), HasSubstr("too short"));
  EXPECT_THAT(sound_refusal(wav(format(6, 1, 8), "ab")),
              HasSubstr("format 0x0006); convert it to 16-bit PCM"));
  EXPECT_THAT(sound_refusal(wav(format(kPcm, 1, 12), "ab")), HasSubstr("12-bit PCM"));
  EXPECT_THAT(sound_refusal(wav(format(kFloat, 1, 16), "ab")), HasSubstr("16-bit floats"));
  EXPECT_THAT(sound_refusal(wav(format(kPcm, 0, 16), "ab")), HasSubstr("no channels"));
  EXPECT_THAT(sound_refusal(wav(format(kPcm, 1, 16, 0), "ab")), HasSubstr("rate is 0"));
  EXPECT_THAT(sound_refusal(wav(format(kPcm, 2, 16), "abcdef")), HasSubstr("whole number of frames"));
  EXPECT_THAT(sound_refusal(riff(chunk("data", "ab"))), HasSubstr("no format"));
  EXPECT_THAT(sound_refusal(riff(chunk("fmt ", format(kPcm, 1, 16)))), HasSubstr("no data chunk"));
  std::string frame = format(kPcm, 1, 16);
  frame[12] = 3;
  EXPECT_THAT(sound_refusal(wav(frame, "abcdef")), HasSubstr("size of its frames"));
}

TEST(WavTest, SaysWhatToDoAboutAStreamThatWasPiped) {
  std::string bytes = wav(format(kPcm, 1, 16), "abcd");
  bytes.replace(4, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(sound_refusal(bytes), HasSubstr("convert it again into a file"));
}

TEST(WavTest, SurvivesDamage) {
  const std::string data = bytes_of<std::int16_t>({1, 2, 3, 4});
  for (const std::string& bytes : {wav(format(kPcm, 1, 16), data), wav(extensible(kPcm, 2, 24), "abcdef"),
                                   rf64(rf64(0, 4).size() - 8, 4)}) {
    expect_truncations_refused(bytes, read_sound);
    expect_safe(bytes, read_sound);
  }
}

}  // namespace
}  // namespace ounce::data
