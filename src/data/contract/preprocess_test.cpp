#include "data/contract/preprocess.h"

#include <gmock/gmock.h>

#include "data/image/image.h"
#include "support/error_of.h"
#include "support/tensor_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using test::numbers_of;
using test::tensor_of;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;
using testing::Pointwise;

InputContract contract_of(InputKind kind) {
  InputContract contract;
  contract.kind = kind;
  return contract;
}

Tensor applied(const InputContract& contract, Tensor raw, ElementType model_type = ElementType::kFloat,
               double rate = 0) {
  return Preprocess(contract, "x").apply(std::move(raw), {"a.jpg", {}, rate}, model_type);
}

Error refusal(const InputContract& contract, const Tensor& raw, double rate = 0) {
  return error_of([&] { applied(contract, raw, ElementType::kFloat, rate); });
}

// One row of two pixels: (10, 20, 30) and (40, 50, 60).
Tensor two_pixels() { return tensor_of<std::uint8_t>({1, 2, 3}, {10, 20, 30, 40, 50, 60}); }

struct ImageContract : testing::Test {
  InputContract contract = contract_of(InputKind::kImage);
};

TEST_F(ImageContract, PlanesOfRedGreenAndBlue) {
  const Tensor made = applied(contract, two_pixels());
  EXPECT_EQ(made.type, ElementType::kFloat);
  EXPECT_THAT(made.dims, ElementsAre(3, 1, 2));
  EXPECT_THAT(numbers_of<float>(made), ElementsAre(10, 40, 20, 50, 30, 60));
}

TEST_F(ImageContract, PixelsAsTheyLie) {
  contract.layout = ImageLayout::kNhwc;
  const Tensor made = applied(contract, two_pixels());
  EXPECT_THAT(made.dims, ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers_of<float>(made), ElementsAre(10, 20, 30, 40, 50, 60));
}

TEST_F(ImageContract, BlueFirst) {
  contract.color_order = ColorOrder::kBgr;
  EXPECT_THAT(numbers_of<float>(applied(contract, two_pixels())), ElementsAre(30, 60, 20, 50, 10, 40));
}

// Expected: (10·19595 + 20·38470 + 30·7471 + 32768) / 65536, rounded down.
TEST_F(ImageContract, GreyAsPillowMixesIt) {
  contract.color_order = ColorOrder::kGrey;
  const Tensor made = applied(contract, two_pixels());
  EXPECT_THAT(made.dims, ElementsAre(1, 1, 2));
  EXPECT_THAT(numbers_of<float>(made), ElementsAre(18, 48));
  EXPECT_THAT(numbers_of<float>(applied(contract, tensor_of<std::uint8_t>({1, 2}, {7, 9}))),
              ElementsAre(7, 9));
}

TEST_F(ImageContract, RescalesAndNormalizesEachChannel) {
  contract.rescale_factor = 0.1;
  contract.mean = {1, 2, 3};
  contract.deviation = {1, 2, 4};
  EXPECT_THAT(numbers_of<float>(applied(contract, two_pixels())), ElementsAre(0, 3, 0, 1.5, 0, 0.75));
  contract.color_order = ColorOrder::kBgr;  // means are in the channel order of the result
  EXPECT_THAT(numbers_of<float>(applied(contract, two_pixels())), ElementsAre(2, 5, 0, 1.5, -0.5, 0.25));
}

TEST_F(ImageContract, OneMeanServesAllChannels) {
  contract.mean = {10};
  contract.deviation = {2};
  EXPECT_THAT(numbers_of<float>(applied(contract, two_pixels())), ElementsAre(0, 15, 5, 20, 10, 25));
}

TEST_F(ImageContract, APixelOverStandardValuesIsExactInDoubles) {
  contract.rescale_factor = 1.0 / 255;
  contract.mean = {0.485, 0.456, 0.406};
  contract.deviation = {0.229, 0.224, 0.225};
  const auto made = numbers_of<float>(applied(contract, two_pixels()));
  EXPECT_EQ(made[0], static_cast<float>((10 * (1.0 / 255) - 0.485) / 0.229));
  EXPECT_EQ(made[5], static_cast<float>((60 * (1.0 / 255) - 0.406) / 0.225));
}

TEST_F(ImageContract, AModelOfBytesGetsBytes) {
  const Tensor made = applied(contract, two_pixels(), ElementType::kUint8);
  EXPECT_EQ(made.type, ElementType::kUint8);
  EXPECT_THAT(numbers_of<std::uint8_t>(made), ElementsAre(10, 40, 20, 50, 30, 60));
}

TEST_F(ImageContract, AScaleIsCarriedOutEvenForAModelOfBytes) {
  contract.rescale_factor = 0.5;
  const Tensor made = applied(contract, two_pixels(), ElementType::kUint8);
  EXPECT_EQ(made.type, ElementType::kFloat);  // refused later, when it is compared with the input
  EXPECT_EQ(numbers_of<float>(made)[0], 5);
}

Tensor ramp(int height, int width) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < height * width * 3; ++i) pixels.push_back(static_cast<std::uint8_t>(i * 37));
  return tensor_of<std::uint8_t>({height, width, 3}, pixels);
}

Image image_of(const Tensor& tensor) {
  const auto pixels = numbers_of<std::uint8_t>(tensor);
  return {static_cast<int>(tensor.dims[1]), static_cast<int>(tensor.dims[0]), 3, pixels};
}

std::vector<std::uint8_t> prepared_bytes(InputContract contract, const Tensor& raw) {
  contract.layout = ImageLayout::kNhwc;
  return numbers_of<std::uint8_t>(applied(contract, raw, ElementType::kUint8));
}

TEST_F(ImageContract, ResizesAsPillowDoes) {
  contract.height = 4;
  contract.width = 6;
  const std::map<std::string, Filter> filters = {
      {"nearest", Filter::kNearest}, {"box", Filter::kBox},         {"bilinear", Filter::kBilinear},
      {"hamming", Filter::kHamming}, {"bicubic", Filter::kBicubic}, {"lanczos", Filter::kLanczos}};
  for (const auto& [name, filter] : filters) {
    contract.resample = name;
    EXPECT_EQ(prepared_bytes(contract, ramp(7, 9)), resize_pillow(image_of(ramp(7, 9)), 6, 4, filter).pixels);
  }
}

TEST_F(ImageContract, ResizesAsOpenCvDoes) {
  contract.height = 4;
  contract.width = 6;
  contract.backend = ResizeBackend::kOpenCv;
  const std::map<std::string, Interpolation> filters = {{"nearest", Interpolation::kNearest},
                                                        {"bilinear", Interpolation::kLinear},
                                                        {"bicubic", Interpolation::kCubic},
                                                        {"area", Interpolation::kArea}};
  for (const auto& [name, filter] : filters) {
    contract.resample = name;
    EXPECT_EQ(prepared_bytes(contract, ramp(7, 9)), resize_opencv(image_of(ramp(7, 9)), 6, 4, filter).pixels);
  }
}

TEST_F(ImageContract, ResizesTheShorterSideAndCutsOutTheMiddle) {
  contract.shortest_edge = 5;
  contract.crop_height = contract.crop_width = 4;
  for (const auto rule : {ounce::CropRule::kTorchvision, ounce::CropRule::kHuggingFace}) {
    contract.crop_rule = rule;
    const Image resized = resize_pillow(image_of(ramp(7, 12)), 8, 5, Filter::kBilinear);
    EXPECT_EQ(prepared_bytes(contract, ramp(7, 12)), center_crop(resized, 4, 4, rule).pixels);
  }
}

TEST_F(ImageContract, WhatIsNoImageIsRefused) {
  EXPECT_THAT(refusal(contract, tensor_of<float>({1, 1, 3}, {1, 2, 3})).what(), HasSubstr("float32[1,1,3]"));
  EXPECT_THAT(refusal(contract, tensor_of<std::uint8_t>({3}, {1, 2, 3})).what(), HasSubstr("uint8[3]"));
  EXPECT_EQ(refusal(contract, tensor_of<std::uint8_t>({0, 2, 3}, {})).code(), ErrorCode::kBadInput);
  const Error grey = refusal(contract, tensor_of<std::uint8_t>({1, 1}, {1}));
  EXPECT_EQ(grey.code(), ErrorCode::kBadInput);
  EXPECT_EQ(grey.where(), "a.jpg: input 'x'");
  EXPECT_THAT(grey.what(), HasSubstr("use `color_order=grey`"));
}

struct AudioContract : testing::Test {
  InputContract contract = contract_of(InputKind::kAudio);
  Tensor sound = tensor_of<std::int16_t>({3}, {16384, -32768, 1});
};

TEST_F(AudioContract, Rescales) {
  contract.rescale_factor = 1.0 / 32768;
  EXPECT_THAT(numbers_of<float>(applied(contract, sound)), ElementsAre(0.5, -1, 1.0F / 32768));
}

TEST_F(AudioContract, WithoutAScaleTheNumbersAreRightAsTheyAre) {
  EXPECT_THAT(numbers_of<float>(applied(contract, sound)), ElementsAre(16384, -32768, 1));
  EXPECT_EQ(applied(contract, sound, ElementType::kInt16).bytes, sound.bytes);
}

TEST_F(AudioContract, AnotherRateIsRefused) {
  contract.sampling_rate = 16000;
  applied(contract, sound, ElementType::kFloat, 16000);
  applied(contract, sound, ElementType::kFloat, 0);  // arrays have no sampling rate
  const Error error = refusal(contract, sound, 8000);
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("8000 samples per second, but the contract requires 16000"));
}

TEST_F(AudioContract, TheLengthIsCutOrFilledUp) {
  contract.padding_value = 7;
  contract.length = 2;
  EXPECT_THAT(numbers_of<float>(applied(contract, sound)), ElementsAre(16384, -32768));
  contract.length = 5;
  EXPECT_THAT(numbers_of<float>(applied(contract, sound)), ElementsAre(16384, -32768, 1, 7, 7));
  EXPECT_THAT(applied(contract, sound).dims, ElementsAre(5));
  EXPECT_THAT(numbers_of<std::int16_t>(applied(contract, sound, ElementType::kInt16)),
              ElementsAre(16384, -32768, 1, 7, 7));
  EXPECT_THAT(numbers_of<double>(applied(contract, tensor_of<double>({1}, {1}), ElementType::kDouble)),
              ElementsAre(1, 7, 7, 7, 7));
}

TEST_F(AudioContract, PaddingIsNotScaled) {
  contract.rescale_factor = 0.5;
  contract.padding_value = 7;
  contract.length = 2;
  EXPECT_THAT(numbers_of<float>(applied(contract, tensor_of<std::int16_t>({1}, {4}))), ElementsAre(2, 7));
}

TEST_F(AudioContract, SoundHasOneChannel) {
  EXPECT_THAT(applied(contract, tensor_of<float>({1, 2}, {1, 2})).dims, ElementsAre(2));
  EXPECT_THAT(refusal(contract, tensor_of<float>({2, 2}, {1, 2, 3, 4})).what(), HasSubstr("mix it down"));
}

TEST(TensorContract, ChannelsAreTheFirstAxis) {
  InputContract contract = contract_of(InputKind::kTensor);
  contract.mean = {1, 2};
  contract.deviation = {2, 4};
  EXPECT_THAT(numbers_of<float>(applied(contract, tensor_of<float>({2, 2}, {1, 3, 2, 6}))),
              ElementsAre(0, 1, 0, 1));
  const Error error = refusal(contract, tensor_of<float>({3}, {1, 2, 3}));
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("2 entries"));
}

TEST(TensorContract, OneMeanForAll) {
  InputContract contract = contract_of(InputKind::kTensor);
  contract.rescale_factor = 2;
  contract.mean = {1};
  EXPECT_THAT(numbers_of<float>(applied(contract, tensor_of<std::uint8_t>({3}, {0, 1, 2}))),
              ElementsAre(-1, 1, 3));
}

TEST(TensorContract, IntegersWithoutAStepStayIntegers) {
  const Tensor ids = tensor_of<std::int64_t>({2}, {3, 4});
  EXPECT_EQ(applied(contract_of(InputKind::kTensor), ids, ElementType::kInt64).type, ElementType::kInt64);
}

TEST(ContractRules, AContractThatContradictsItselfIsRefused) {
  const auto refuse = [](InputKind kind, const auto& change) {
    InputContract contract = contract_of(kind);
    change(contract);
    const Error error = error_of([&] { Preprocess(contract, "x"); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_EQ(error.where(), "contract of input 'x'");
  };
  using C = InputContract;
  refuse(InputKind::kImage, [](C& c) { c.shortest_edge = 4, c.resample = "area"; });
  refuse(InputKind::kImage,
         [](C& c) { c.shortest_edge = 4, c.resample = "lanczos", c.backend = ResizeBackend::kOpenCv; });
  refuse(InputKind::kImage, [](C& c) { c.height = 4; });
  refuse(InputKind::kImage, [](C& c) { c.width = 4; });
  refuse(InputKind::kImage, [](C& c) { c.height = c.width = c.shortest_edge = 4; });
  refuse(InputKind::kImage, [](C& c) { c.crop_width = 4; });
  refuse(InputKind::kAudio, [](C& c) { c.length = c.frame_length = 4; });
  refuse(InputKind::kAudio, [](C& c) { c.frame_length = 4, c.hop_length = 5; });
  refuse(InputKind::kTensor, [](C& c) { c.deviation = {1, 0}; });
  refuse(InputKind::kImage, [](C& c) { c.mean = {1, 2}; });
  refuse(InputKind::kImage, [](C& c) { c.mean = {1, 2, 3}, c.color_order = ColorOrder::kGrey; });
  refuse(InputKind::kAudio, [](C& c) { c.mean = {1, 2, 3}; });
  refuse(InputKind::kTensor, [](C& c) { c.mean = {1, 2, 3}, c.deviation = {1, 2}; });
}

}  // namespace
}  // namespace ounce::data
