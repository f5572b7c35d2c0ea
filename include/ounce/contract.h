// The preprocessing contract: how raw data becomes what a model takes.
//
// It stands in the model's metadata under one key, "ounce.contract", as JSON, and survives quantization.
// Field names are those of Hugging Face's preprocessor_config where it has them. docs/reference/contract.md
// shows an example.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ounce/names.h>

namespace ounce {

enum class InputKind { kTensor, kImage, kAudio };
template <>
struct NamesOf<InputKind> {
  static constexpr Named<InputKind> kAll[] = {
      {InputKind::kTensor, "tensor"}, {InputKind::kImage, "image"}, {InputKind::kAudio, "audio"}};
};
enum class ColorOrder { kRgb, kBgr, kGrey };
template <>
struct NamesOf<ColorOrder> {
  static constexpr Named<ColorOrder> kAll[] = {
      {ColorOrder::kRgb, "rgb"}, {ColorOrder::kBgr, "bgr"}, {ColorOrder::kGrey, "grey"}};
};
enum class ImageLayout { kNchw, kNhwc };
template <>
struct NamesOf<ImageLayout> {
  static constexpr Named<ImageLayout> kAll[] = {{ImageLayout::kNchw, "nchw"}, {ImageLayout::kNhwc, "nhwc"}};
};
enum class ResizeBackend { kPillow, kOpenCv };
template <>
struct NamesOf<ResizeBackend> {
  static constexpr Named<ResizeBackend> kAll[] = {{ResizeBackend::kPillow, "pillow"},
                                                  {ResizeBackend::kOpenCv, "opencv"}};
};
enum class CropRule { kTorchvision, kHuggingFace };
template <>
struct NamesOf<CropRule> {
  static constexpr Named<CropRule> kAll[] = {{CropRule::kTorchvision, "torchvision"},
                                             {CropRule::kHuggingFace, "huggingface"}};
};

// How one input is made. Steps that are not asked for are left out; they happen in the order given here.
struct InputContract {
  InputKind kind = InputKind::kTensor;

  // Images: rows of pixels, height × width × colours, 0 … 255.
  ColorOrder color_order = ColorOrder::kRgb;
  std::int64_t height = 0, width = 0;  // size to resize to; 0: as it is
  std::int64_t shortest_edge = 0;      // or: resize the shorter side to this, the other in proportion
  std::string resample = "bilinear";   // nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest,
                                       // bilinear, bicubic, area
  ResizeBackend backend = ResizeBackend::kPillow;
  std::int64_t crop_height = 0, crop_width = 0;  // the middle of it; 0: all
  CropRule crop_rule = CropRule::kTorchvision;   // which pixel is the middle when a difference is odd

  // Sound: samples of one channel.
  std::int64_t sampling_rate = 0;  // what the data must have; 0: any
  std::int64_t length = 0;  // samples that the model takes: cut, or filled up with padding_value; 0: as it is
  // Instead: frames of frame_length, each a run of the model, one every hop_length samples (0: frame_length).
  // What a frame is longer than the hop it has seen before: it begins that much earlier, the first one with
  // zeros.
  std::int64_t frame_length = 0, hop_length = 0;
  double padding_value = 0;

  // All kinds: x · rescale_factor, then (x − mean) / std by channel. Integers without any of it stay
  // integers.
  std::optional<double> rescale_factor;
  std::vector<double> mean, deviation;
  ImageLayout layout = ImageLayout::kNchw;

  // What the model was given when the contract was made; data that contradicts it is refused.
  struct Observed {
    std::uint64_t samples = 0;
    double minimum = 0, maximum = 0;      // after all steps
    std::vector<double> mean, deviation;  // by channel
  };
  std::optional<Observed> observed;
};

// One sample that was run when the contract was made.
struct Golden {
  std::string sample;                       // its name
  std::string input_digest, output_digest;  // of the bytes that went in and that came out
  // Some values of each output, spread evenly: other machines and compressed models come close to them.
  std::map<std::string, std::vector<double>> outputs;
};

struct Contract {
  static constexpr int kVersion = 1;
  static constexpr const char* kMetadataKey = "ounce.contract";

  std::map<std::string, InputContract> inputs;
  std::optional<Golden> golden;
};

// From a .toml or .json file. Throws Error{kBadInput} for a key that does not exist, naming the nearest.
Contract read_contract(const std::filesystem::path& file);
std::optional<Contract> contract_of(const std::filesystem::path& model);
std::string to_json(const Contract& contract);  // as it stands in the metadata, indented for people

struct DataOptions;
class Progress;
struct RuntimeOptions;

// Writes `model` with the contract to `output`. With data, what it looks like and a golden sample are
// recorded.
Contract set_contract(const std::filesystem::path& model, const std::filesystem::path& output,
                      const Contract& contract, const DataOptions* data, const RuntimeOptions& runtime,
                      Progress* progress = nullptr);

struct ContractCheck {
  bool passed = true;
  std::vector<std::string> findings;  // what holds, and what does not
  std::uint64_t samples = 0;
};

// Is `data` what the model's contract says, and does the golden sample (if it is among the data) still give
// what it gave? Throws Error{kBadInput} when the model has no contract.
// `dumps`: the floats that an app gave its model for the same samples, by input ("" for the only one): a .npy
// or a raw file, one sample or as many as there are. They are held against what the contract makes of `data`.
ContractCheck check_contract(const std::filesystem::path& model, const DataOptions& data,
                             const RuntimeOptions& runtime, Progress* progress = nullptr,
                             const std::map<std::string, std::filesystem::path>& dumps = {});

}  // namespace ounce
