#include "data/contract/contract_file.h"

#include <gmock/gmock.h>

#include "support/error_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Contract parse(const std::string& json) { return parse_contract(json, "c.json"); }
InputContract only(const std::string& json) { return parse(json).inputs.at(kOnlyInput); }
std::string again(const Contract& contract) { return write_contract(contract, -1); }

std::string refusal(const std::string& json, ErrorCode code = ErrorCode::kBadInput) {
  const Error error = error_of([&] { parse(json); });
  EXPECT_EQ(error.code(), code);
  EXPECT_THAT(error.where(), testing::StartsWith("c.json"));
  EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
  return error.what();
}

InputContract image() {
  InputContract image;
  image.kind = InputKind::kImage;
  image.color_order = ColorOrder::kBgr;
  image.height = 224;
  image.width = 192;
  image.resample = "area";
  image.backend = ResizeBackend::kOpenCv;
  image.crop_height = 200;
  image.crop_width = 180;
  image.crop_rule = CropRule::kHuggingFace;
  image.rescale_factor = 1.0 / 255;
  image.mean = {0.485, 0.456, 0.406};
  image.deviation = {0.229, 0.224, 0.225};
  image.layout = ImageLayout::kNhwc;
  image.observed = {17, -2.1, 2.64, {0.1, 0.2, 0.3}, {1, 2, 3}};
  return image;
}

InputContract sound() {
  InputContract sound;
  sound.kind = InputKind::kAudio;
  sound.sampling_rate = 16000;
  sound.frame_length = 576;
  sound.hop_length = 512;
  sound.padding_value = -0.5;
  sound.rescale_factor = 1.0 / 32768;
  sound.mean = {0.25};
  sound.deviation = {2};
  return sound;
}

void expect_same(const InputContract& a, const InputContract& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.color_order, b.color_order);
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.shortest_edge, b.shortest_edge);
  EXPECT_EQ(a.resample, b.resample);
  EXPECT_EQ(a.backend, b.backend);
  EXPECT_EQ(a.crop_height, b.crop_height);
  EXPECT_EQ(a.crop_width, b.crop_width);
  EXPECT_EQ(a.crop_rule, b.crop_rule);
  EXPECT_EQ(a.sampling_rate, b.sampling_rate);
  EXPECT_EQ(a.length, b.length);
  EXPECT_EQ(a.frame_length, b.frame_length);
  EXPECT_EQ(a.hop_length, b.hop_length);
  EXPECT_EQ(a.padding_value, b.padding_value);
  EXPECT_EQ(a.rescale_factor, b.rescale_factor);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.deviation, b.deviation);
  EXPECT_EQ(a.layout, b.layout);
  ASSERT_EQ(a.observed.has_value(), b.observed.has_value());
  if (!a.observed) return;
  EXPECT_EQ(a.observed->samples, b.observed->samples);
  EXPECT_EQ(a.observed->minimum, b.observed->minimum);
  EXPECT_EQ(a.observed->maximum, b.observed->maximum);
  EXPECT_EQ(a.observed->mean, b.observed->mean);
  EXPECT_EQ(a.observed->deviation, b.observed->deviation);
}

TEST(ContractJsonTest, EveryFieldComesBack) {
  Contract contract;
  contract.inputs["pixels"] = image();
  contract.inputs["sound"] = sound();
  InputContract& edge = contract.inputs["edge"];
  edge.kind = InputKind::kImage;
  edge.shortest_edge = 256;
  edge.color_order = ColorOrder::kGrey;
  InputContract& whole = contract.inputs["whole"];
  whole.kind = InputKind::kAudio;
  whole.length = 8000;
  InputContract& plain = contract.inputs["plain"];
  plain.mean = {1, 2};
  plain.deviation = {3, 4};
  contract.golden = {"cat.jpg", "ab", "cd", {{"logits", {0.5, -1e-30, 3}}, {"none", {}}}};
  for (const int indent : {-1, 2}) {
    const Contract read = parse(write_contract(contract, indent));
    ASSERT_EQ(read.inputs.size(), contract.inputs.size());
    for (const auto& [name, input] : contract.inputs) expect_same(read.inputs.at(name), input);
    ASSERT_TRUE(read.golden);
    EXPECT_EQ(read.golden->sample, "cat.jpg");
    EXPECT_EQ(read.golden->input_digest, "ab");
    EXPECT_EQ(read.golden->output_digest, "cd");
    EXPECT_EQ(read.golden->outputs, contract.golden->outputs);
    EXPECT_EQ(write_contract(read, indent), write_contract(contract, indent));
  }
}

TEST(ContractJsonTest, AnEmptyContractComesBack) {
  EXPECT_THAT(parse(again({})).inputs, IsEmpty());
  EXPECT_EQ(parse(again({})).golden, std::nullopt);
}

// A file as transformers writes it.
TEST(ContractJsonTest, ReadsTheConfigOfAVisionTransformer) {
  const InputContract vit = only(R"({
    "do_convert_rgb": null, "do_normalize": true, "do_rescale": true, "do_resize": true,
    "image_mean": [0.5, 0.5, 0.5], "image_processor_type": "ViTImageProcessor",
    "image_std": [0.5, 0.5, 0.5], "resample": 2, "rescale_factor": 0.00392156862745098,
    "size": {"height": 224, "width": 224}})");
  EXPECT_EQ(vit.kind, InputKind::kImage);
  EXPECT_EQ(vit.height, 224);
  EXPECT_EQ(vit.width, 224);
  EXPECT_EQ(vit.resample, "bilinear");
  EXPECT_EQ(vit.backend, ResizeBackend::kPillow);
  EXPECT_DOUBLE_EQ(*vit.rescale_factor, 1.0 / 255);
  EXPECT_THAT(vit.mean, ElementsAre(0.5, 0.5, 0.5));
  EXPECT_EQ(vit.layout, ImageLayout::kNchw);
}

// A file from before do_rescale existed: the extractor always rescaled.
TEST(ContractJsonTest, ReadsTheConfigOfAnOldFeatureExtractor) {
  const InputContract old = only(R"({
    "do_normalize": true, "do_resize": true, "feature_extractor_type": "ViTFeatureExtractor",
    "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "resample": 2,
    "size": {"height": 224, "width": 224}})");
  ASSERT_TRUE(old.rescale_factor);
  EXPECT_DOUBLE_EQ(*old.rescale_factor, 1.0 / 255);
  EXPECT_EQ(only(R"({"image_mean": [0.5, 0.5, 0.5]})").rescale_factor, std::nullopt);
}

TEST(ContractJsonTest, ReadsTheConfigOfAClassifierWithACrop) {
  const InputContract clip = only(R"({
    "crop_size": {"height": 224, "width": 224}, "do_center_crop": true, "do_convert_rgb": true,
    "do_normalize": true, "do_rescale": true, "do_resize": true,
    "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_processor_type": "CLIPImageProcessor",
    "image_std": [0.26862954, 0.26130258, 0.27577711], "resample": 3,
    "rescale_factor": 0.00392156862745098, "size": {"shortest_edge": 224}})");
  EXPECT_EQ(clip.shortest_edge, 224);
  EXPECT_EQ(clip.crop_height, 224);
  EXPECT_EQ(clip.resample, "bicubic");
}

TEST(ContractJsonTest, StepsThatAreSwitchedOffAreLeftOut) {
  const InputContract off = only(R"({
    "do_resize": false, "size": {"height": 224, "width": 224}, "do_center_crop": false, "crop_size": 200,
    "do_rescale": false, "rescale_factor": 0.5, "do_normalize": false, "image_mean": [1, 2, 3]})");
  EXPECT_EQ(off.height, 0);
  EXPECT_EQ(off.crop_height, 0);
  EXPECT_EQ(off.rescale_factor, std::nullopt);
  EXPECT_THAT(off.mean, IsEmpty());
}

std::string wav2vec2(const std::string& do_normalize) {
  return R"({"do_normalize": )" + do_normalize +
         R"(, "feature_extractor_type": "Wav2Vec2FeatureExtractor", "feature_size": 1,
    "padding_side": "right", "padding_value": 0.0, "return_attention_mask": false,
    "sampling_rate": 16000})";
}

TEST(ContractJsonTest, ReadsTheConfigOfASpeechModel) {
  const InputContract speech = only(wav2vec2("false"));
  EXPECT_EQ(speech.kind, InputKind::kAudio);
  EXPECT_EQ(speech.sampling_rate, 16000);
  EXPECT_EQ(speech.padding_value, 0);
  EXPECT_EQ(speech.rescale_factor, std::nullopt);
  EXPECT_THAT(refusal(wav2vec2("true")), HasSubstr("'do_normalize' of sound"));
}

TEST(ContractJsonTest, SizesMayBeNumbers) {
  const InputContract sizes = only(R"({"size": 256, "crop_size": 224})");
  EXPECT_EQ(sizes.shortest_edge, 256);
  EXPECT_EQ(sizes.crop_height, 224);
  EXPECT_EQ(sizes.crop_width, 224);
}

TEST(ContractJsonTest, AnUnknownKeyIsRefusedWithTheNearest) {
  EXPECT_THAT(refusal(R"({"image_meen": [1]})"),
              HasSubstr("no key 'image_meen'; did you mean 'image_mean'?"));
  EXPECT_THAT(refusal(R"({"inputs": {"x": {"smapling_rate": 1}}})"), HasSubstr("input 'x'"));
  EXPECT_THAT(refusal(R"({"inputs": {}, "goldn": {}})"), HasSubstr("'golden'"));
  EXPECT_THAT(refusal(R"({"size": {"hight": 1}})"), HasSubstr("'height'"));
  EXPECT_THAT(refusal(R"({"qqqqqqqqqqqqqqqq": 1})"), testing::Not(HasSubstr("did you mean")));
}

TEST(ContractJsonTest, WrongTypesAreRefused) {
  EXPECT_THAT(refusal(R"({"sampling_rate": "16000"})"), HasSubstr("'sampling_rate' must be a number"));
  EXPECT_THAT(refusal(R"({"sampling_rate": 0.5})"), HasSubstr("whole"));
  EXPECT_THAT(refusal(R"({"sampling_rate": -1})"), HasSubstr("whole"));
  EXPECT_THAT(refusal(R"({"sampling_rate": 1e300})"), HasSubstr("whole"));
  EXPECT_THAT(refusal(R"({"kind": "picture"})"), HasSubstr("one of tensor, image, audio, not 'picture'"));
  EXPECT_THAT(refusal(R"({"kind": 1})"), HasSubstr("'kind' must be a string"));
  EXPECT_THAT(refusal(R"({"mean": "0.5"})"), HasSubstr("list of numbers"));
  EXPECT_THAT(refusal(R"({"mean": [0.5, "x"]})"), HasSubstr("list of numbers"));
  EXPECT_THAT(refusal(R"({"do_resize": 1})"), HasSubstr("true or false"));
  EXPECT_THAT(refusal(R"({"resample": 9})"), HasSubstr("not a number of a Pillow filter"));
  EXPECT_THAT(refusal(R"({"size": [1, 2]})"), HasSubstr("table"));
  EXPECT_THAT(refusal(R"({"observed": 3})"), HasSubstr("observed"));
  EXPECT_THAT(refusal(R"({"inputs": [1]})"), HasSubstr("table"));
  EXPECT_THAT(refusal(R"({"inputs": {"x": 3}})"), HasSubstr("input 'x'"));
  EXPECT_THAT(refusal("[]"), HasSubstr("table"));
  EXPECT_THAT(refusal("3"), HasSubstr("table"));
}

TEST(ContractJsonTest, WhatIsNotJsonIsRefused) {
  for (const char* text : {"", "{", "{]", "kind = 'image'", "{\"kind\": \"\xff\"}", "{} {}"})
    EXPECT_THAT(refusal(text), HasSubstr("not JSON"));
}

std::string nested(const std::string& open, const std::string& close, int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  text += "0";
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ContractJsonTest, DeepNestingIsRefused) {
  EXPECT_THAT(refusal(nested("[", "]", 100'000)), HasSubstr("more than 16 deep"));
  refusal("{\"mean\": " + nested("{\"a\": ", "}", 100'000) + "}");
  refusal(nested("[\"]\", ", "]", 100'000));  // brackets in strings must not hide the others
}

TEST(ContractJsonTest, EndlessTextsAreRefused) {
  const std::string blanks(std::size_t{17} << 20, ' ');
  EXPECT_THAT(refusal("{}" + blanks), HasSubstr("longer than 16 MiB"));
  EXPECT_THROW(parse_contract_toml(blanks, "contract"), Error);
}

TEST(ContractJsonTest, ANewerContractIsRefused) {
  EXPECT_THAT(refusal(R"({"version": 2, "inputs": {}})", ErrorCode::kUnsupported), HasSubstr("update ounce"));
  EXPECT_THAT(parse(R"({"version": 1, "inputs": {}})").inputs, IsEmpty());
}

TEST(ContractTomlTest, SaysTheSameAsJson) {
  const Contract from_toml = parse_contract_toml(R"(
version = 1
[inputs.pixels]
kind = "image"
color_order = "bgr"
size = { height = 224, width = 192 }
resample = "area"
resize_backend = "opencv"
crop_size = { height = 200, width = 180 }
crop_rule = "huggingface"
rescale_factor = 0.00392156862745098
image_mean = [0.485, 0.456, 0.406]
image_std = [0.229, 0.224, 0.225]
layout = "nhwc"
[inputs.pixels.observed]
samples = 17
minimum = -2.1
maximum = 2.64
mean = [0.1, 0.2, 0.3]
std = [1, 2, 3]
)",
                                                 "c.toml");
  InputContract expected = image();
  expected.rescale_factor = 0.00392156862745098;
  expect_same(from_toml.inputs.at("pixels"), expected);
}

TEST(ContractTomlTest, ErrorsNameTheLine) {
  const auto refuse = [](const std::string& toml) {
    const Error error = error_of([&] { parse_contract_toml(toml, "c.toml"); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
    return std::string(error.what());
  };
  EXPECT_THAT(refuse("kind = 'image'\nsize = = 3\n"), HasSubstr("line 2"));
  EXPECT_THAT(refuse("kind = 1979-05-27\n"), HasSubstr("date"));
  EXPECT_THAT(refuse("knd = 'image'\n"), HasSubstr("'kind'"));
  EXPECT_THAT(refuse("mean = [nan]\n"), HasSubstr("list of numbers"));
  refuse("mean = " + nested("[", "]", 100'000));
  refuse(nested("a.", "", 100'000) + " = 1");
  refuse("[" + nested("a.", "", 100'000) + "]");
  refuse("mean = " + nested("{ a = ", " }", 100'000));
  refuse("mean = " + nested("[']', ", "]", 100'000));
  refuse(nested("\"=\".", "", 100'000) + " = 1");
}

}  // namespace
}  // namespace ounce::data
