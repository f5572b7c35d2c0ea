#include <ounce/app.hpp>

#include <gmock/gmock.h>
#include <ounce/data.h>

#include <cmath>

#include "app/session.h"
#include "data/source/data_feed.h"
#include "runtime/ort/library.h"
#include "support/app_models.h"
#include "support/temporary_folder.h"

namespace ounce::app {
namespace {

using test::field;
using test::status_of;
using testing::ElementsAre;
using testing::ElementsAreArray;

std::vector<int> numbers(const data::Tensor& tensor) {
  std::vector<int> values;
  for (const char byte : tensor.bytes) values.push_back(static_cast<unsigned char>(byte));
  return values;
}

TEST(AppPixels, EveryLayoutGivesTheSamePicture) {
  // 2 × 2 pixels; every channel has a different value.
  const std::vector<std::uint8_t> rgb = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<std::uint8_t> rgba, bgra, bgr, with_gaps;
  for (std::size_t i = 0; i < 12; i += 3) {
    rgba.insert(rgba.end(), {rgb[i], rgb[i + 1], rgb[i + 2], 255});
    bgra.insert(bgra.end(), {rgb[i + 2], rgb[i + 1], rgb[i], 255});
    bgr.insert(bgr.end(), {rgb[i + 2], rgb[i + 1], rgb[i]});
    with_gaps.insert(with_gaps.end(), {rgb[i], rgb[i + 1], rgb[i + 2]});
    if (i == 3) with_gaps.insert(with_gaps.end(), {99, 99});
  }
  const auto picture = [](PixelFormat format, const std::vector<std::uint8_t>& bytes,
                          std::size_t stride = 0) {
    return numbers(
        upright({.format = format, .width = 2, .height = 2, .planes = {bytes.data()}, .strides = {stride}}));
  };
  const std::vector<int> expected(rgb.begin(), rgb.end());
  EXPECT_EQ(picture(PixelFormat::kRgb, rgb), expected);
  EXPECT_EQ(picture(PixelFormat::kBgr, bgr), expected);
  EXPECT_EQ(picture(PixelFormat::kRgba, rgba), expected);
  EXPECT_EQ(picture(PixelFormat::kBgra, bgra), expected);
  EXPECT_EQ(picture(PixelFormat::kRgb, with_gaps, 8), expected);
  EXPECT_THAT(
      numbers(upright({.format = PixelFormat::kGrey, .width = 2, .height = 1, .planes = {rgb.data()}})),
      ElementsAre(1, 2));
}

TEST(AppPixels, TurnsClockwise) {
  const std::vector<std::uint8_t> grey = {1, 2, 3, 4, 5, 6};  // three per row
  const auto turned = [&](int rotation) {
    return upright({.format = PixelFormat::kGrey,
                    .width = 3,
                    .height = 2,
                    .planes = {grey.data()},
                    .rotation = rotation});
  };
  EXPECT_THAT(numbers(turned(0)), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(numbers(turned(90)), ElementsAre(4, 1, 5, 2, 6, 3));
  EXPECT_THAT(turned(90).dims, ElementsAre(3, 2));
  EXPECT_THAT(numbers(turned(180)), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(numbers(turned(270)), ElementsAre(3, 6, 2, 5, 1, 4));
  EXPECT_EQ(status_of([&] { turned(45); }), Status::kUsage);
}

// Differs from the floating-point definition by at most 1.
TEST(AppPixels, ColourDifferencesBecomeColours) {
  const auto near = [](double value) { return std::clamp(value, 0.0, 255.0); };
  for (int y = 0; y < 256; y += 15) {
    for (int blue = 0; blue < 256; blue += 15) {
      for (int red = 0; red < 256; red += 15) {
        const auto y8 = static_cast<std::uint8_t>(y);
        const std::uint8_t brightness[1] = {y8};
        const std::uint8_t pair[2] = {static_cast<std::uint8_t>(blue), static_cast<std::uint8_t>(red)};
        const std::uint8_t turned[2] = {pair[1], pair[0]};
        const double cb = blue - 128, cr = red - 128;
        const auto rgb = numbers(
            upright({.format = PixelFormat::kNv12, .width = 1, .height = 1, .planes = {brightness, pair}}));
        EXPECT_NEAR(rgb[0], near(y + 1.402 * cr), 0.51);
        EXPECT_NEAR(rgb[1], near(y - 0.344136 * cb - 0.714136 * cr), 0.51);
        EXPECT_NEAR(rgb[2], near(y + 1.772 * cb), 0.51);
        EXPECT_EQ(
            numbers(upright(
                {.format = PixelFormat::kNv21, .width = 1, .height = 1, .planes = {brightness, turned}})),
            rgb);
        const auto limited = numbers(upright({.format = PixelFormat::kNv12,
                                              .width = 1,
                                              .height = 1,
                                              .planes = {brightness, pair},
                                              .range = YuvRange::kLimited}));
        EXPECT_NEAR(limited[0], near((y - 16) * 255.0 / 219 + 1.596027 * cr), 0.51);
        EXPECT_NEAR(limited[1], near((y - 16) * 255.0 / 219 - 0.391762 * cb - 0.812968 * cr), 0.51);
        EXPECT_NEAR(limited[2], near((y - 16) * 255.0 / 219 + 2.017232 * cb), 0.51);
      }
    }
  }
}

TEST(AppPixels, FourPixelsShareAPair) {
  const std::vector<std::uint8_t> brightness = {10, 20, 30, 40, 50, 60, 70, 80, 90};  // 3 × 3
  const std::vector<std::uint8_t> pairs = {128, 128, 128, 228, 128, 128, 128, 128};   // 2 × 2 pairs
  const auto rgb = numbers(upright(
      {.format = PixelFormat::kNv12, .width = 3, .height = 3, .planes = {brightness.data(), pairs.data()}}));
  EXPECT_EQ(rgb[0], 10);
  EXPECT_EQ(rgb[3], 20);
  EXPECT_EQ(
      rgb[6],
      30 + 140);  // the third pixel of the first row uses the second pair, whose Cr is 100 above neutral
  EXPECT_EQ(rgb[15], 60 + 140);
  EXPECT_EQ(rgb[24], 90);
}

// An identity model with a contract: its output is the preprocessed input.
std::string identity_with(const std::string& contract, const std::vector<std::string>& dims) {
  const auto value = [&](const std::string& name) {
    std::string shape;
    for (const std::string& dim : dims) {
      const bool is_number = dim.find_first_not_of("0123456789") == std::string::npos;
      shape += field(1, is_number ? field(1, std::int64_t{std::stoll(dim)}) : field(2, dim));
    }
    return field(1, name) + field(2, field(1, field(1, std::int64_t{test::kFloat}) + field(2, shape)));
  };
  test::ModelBuilder model(13, 7);
  model.add(11, value("x")).add(12, value("y")).node("Identity", {"x"}, {"y"});
  model.add_to_model(14, field(1, std::string("ounce.contract")) + field(2, contract));
  return model.bytes();
}

struct AppInputs : testing::Test {
  Session load(const std::string& contract, const std::vector<std::string>& dims) {
    test::write_file(folder / "model.onnx", identity_with(contract, dims));
    return Session::load(folder / "model.onnx");
  }
  // The same data, preprocessed as verify, calibrate and `ounce contract` do.
  std::vector<float> by_feed(const std::filesystem::path& file,
                             const std::vector<data::ValueDescription>& inputs, const std::string& contract,
                             std::uint64_t sample = 0) const {
    DataOptions options;
    options.path = file;
    test::write_file(folder / "contract.json", contract);
    options.contract = read_contract(folder / "contract.json");
    data::DataFeed feed(inputs, options);
    data::Batch batch;
    feed.read(sample, batch);
    const auto values = data::values_of<float>(batch.inputs[0]);
    return {values.begin(), values.end()};
  }
  static data::ValueDescription input_of(const Session& session) {
    data::ValueDescription input;
    input.name = "x";
    input.element = ElementType::kFloat;
    for (const std::int64_t dim : session.inputs()[0].shape) input.shape.push_back({dim, ""});
    return input;
  }

  test::TemporaryFolder folder;
};

constexpr const char* kImageContract =
    R"({"version": 1, "inputs": {"x": {"kind": "image", "size": {"height": 5, "width": 4}, "resample": "bicubic",
        "crop_size": {"height": 3, "width": 3}, "rescale_factor": 0.00392156862745098,
        "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}}})";

// Writes pixels as a .npy file for the command line.
void write_pixels(const std::filesystem::path& path, int height, int width,
                  const std::vector<std::uint8_t>& rgb) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, " + std::to_string(height) +
                       ", " + std::to_string(width) + ", 3), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(rgb.begin(), rgb.end());
  test::write_file(path, bytes);
}

TEST_F(AppInputs, PixelsBecomeWhatTheCommandLineMakesOfThem) {
  const int width = 17, height = 11;
  std::vector<std::uint8_t> rgb, rgba;
  for (int i = 0; i < width * height * 3; ++i) rgb.push_back(static_cast<std::uint8_t>(i * 37 % 251));
  for (std::size_t i = 0; i < rgb.size(); i += 3)
    rgba.insert(rgba.end(), {rgb[i], rgb[i + 1], rgb[i + 2], 7});
  write_pixels(folder / "pixels.npy", height, width, rgb);
  const Session session = load(kImageContract, {"N", "3", "3", "3"});
  Call call = session.call({.batch = 2});
  call.set_image({.format = PixelFormat::kRgba, .width = width, .height = height, .planes = {rgba.data()}},
                 {}, 1);
  call.run();
  const auto y = call.output<float>();
  const std::vector<float> expected = by_feed(folder / "pixels.npy", {input_of(session)}, kImageContract);
  ASSERT_EQ(expected.size(), 27U);
  EXPECT_THAT(std::vector<float>(y.begin() + 27, y.end()), ElementsAreArray(expected));
  EXPECT_EQ(
      status_of([&] { call.set_image({.width = width, .height = height, .planes = {rgba.data()}}, {}, 2); }),
      Status::kUsage);
  EXPECT_EQ(status_of([&] { call.set_sound({.rate = 8000}); }), Status::kNoContract);
}

constexpr const char* kSoundContract =
    R"({"version": 1, "inputs": {"x": {"kind": "audio", "sampling_rate": 8000, "max_length": 6,
        "rescale_factor": 0.000030517578125}}})";

TEST_F(AppInputs, SoundIsMixedScaledAndFilledUp) {
  const Session session = load(kSoundContract, {"N", "6"});
  Call call = session.call();
  const std::vector<std::int16_t> stereo = {100, 300, -200, -100, 32767, 32767, 7, 8};
  call.set_sound({.samples = stereo, .channels = 2, .rate = 8000});
  call.run();
  EXPECT_THAT(call.output<float>(),
              ElementsAre(200 / 32768.0F, -150 / 32768.0F, 32767 / 32768.0F, 8 / 32768.0F, 0, 0));
  EXPECT_EQ(status_of([&] { call.set_sound({.samples = stereo, .rate = 16000}); }), Status::kUsage);
  EXPECT_EQ(status_of([&] { call.set_sound({.samples = stereo, .channels = 3, .rate = 8000}); }),
            Status::kUsage);
  EXPECT_EQ(status_of([&] { call.set_image({}); }), Status::kNoContract);
}

constexpr const char* kStreamContract =
    R"({"version": 1, "inputs": {"x": {"kind": "audio", "frame_length": 6, "hop_length": 4,
        "rescale_factor": 0.000030517578125}}})";

std::string wav_of(const std::vector<std::int16_t>& samples) {
  const auto u32 = [](std::uint32_t value) { return std::string(reinterpret_cast<const char*>(&value), 4); };
  const auto u16 = [](std::uint16_t value) { return std::string(reinterpret_cast<const char*>(&value), 2); };
  const auto bytes = static_cast<std::uint32_t>(samples.size() * 2);
  return "RIFF" + u32(36 + bytes) + "WAVEfmt " + u32(16) + u16(1) + u16(1) + u32(8000) + u32(16000) + u16(2) +
         u16(16) + "data" + u32(bytes) + std::string(reinterpret_cast<const char*>(samples.data()), bytes);
}

TEST_F(AppInputs, AStreamHasTheFramesOfTheCommandLine) {
  std::vector<std::int16_t> samples;
  for (int i = 0; i < 31; ++i) samples.push_back(static_cast<std::int16_t>(i * 523 % 4001 - 2000));
  test::write_file(folder / "sound.wav", wav_of(samples));
  const Session session = load(kStreamContract, {"N", "6"});
  Call call = session.call();
  SoundStream stream(session);
  std::vector<std::vector<float>> frames;
  const auto take = [&] {
    while (stream.next(call)) {
      const auto x = call.input<float>();
      frames.emplace_back(x.begin(), x.end());
    }
  };
  for (std::size_t at = 0; at < samples.size();) {  // in pieces of different sizes
    const std::size_t count = std::min<std::size_t>(at % 7 + 1, samples.size() - at);
    stream.push(std::span(samples).subspan(at, count));
    take();
    at += count;
  }
  ASSERT_EQ(frames.size(), 7U);
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_THAT(frames[i],
                ElementsAreArray(by_feed(folder / "sound.wav", {input_of(session)}, kStreamContract, i)))
        << i;
  stream.reset();
  EXPECT_FALSE(stream.next(call));
}

TEST_F(AppInputs, WithoutAContractNothingIsMadeUp) {
  test::write_file(folder / "plain.onnx", test::small_w8().bytes());
  const Session session = Session::load(folder / "plain.onnx");
  Call call = session.call();
  EXPECT_EQ(status_of([&] { call.set_image({}); }), Status::kNoContract);
  EXPECT_EQ(status_of([&] { SoundStream stream(session); }), Status::kNoContract);
  const Session whole = load(kSoundContract, {"N", "6"});
  EXPECT_EQ(status_of([&] { SoundStream stream(whole); }), Status::kUsage);
}

}  // namespace
}  // namespace ounce::app
