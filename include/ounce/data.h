// Data for models, and the preprocessing that turns raw data into model inputs.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ounce/error.h>

namespace ounce {

// == Contract ==
//
// Preprocessing metadata of a model: how raw data becomes model input.
//
// The metadata is stored as JSON under the key "ounce.contract" of the model, and survives quantization.
// Field names follow Hugging Face's preprocessor_config. docs/reference/contract.md shows an example.

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

// The preprocessing of one input. Steps run in this order; unset steps are skipped.
struct InputContract {
  InputKind kind = InputKind::kTensor;

  // Images: height × width × channels, values 0 to 255.
  ColorOrder color_order = ColorOrder::kRgb;
  std::int64_t height = 0, width = 0;  // resize to this size, in pixels; 0: unchanged
  std::int64_t shortest_edge = 0;      // or resize the shorter side to this, keeping the aspect ratio
  std::string resample = "bilinear";   // nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest,
                                       // bilinear, bicubic, area
  ResizeBackend backend = ResizeBackend::kPillow;
  std::int64_t crop_height = 0, crop_width = 0;  // center crop, in pixels; 0: none
  CropRule crop_rule = CropRule::kTorchvision;   // rounding of the crop position if a margin is odd

  // Audio: samples of one channel.
  std::int64_t sampling_rate = 0;  // in Hz, required of the data; 0: any
  std::int64_t length = 0;         // in samples: cut, or padded with padding_value; 0: unchanged
  // Instead of `length`: frames of frame_length samples, each a run of the model, one every hop_length
  // samples (0: frame_length). A frame that is longer than the hop starts earlier by the difference; the
  // first frame starts with zeros.
  std::int64_t frame_length = 0, hop_length = 0;
  double padding_value = 0;

  // All kinds: x · rescale_factor, then (x − mean) / std per channel. Integers stay integers if none of these
  // is set.
  std::optional<double> rescale_factor;
  std::vector<double> mean, deviation;
  ImageLayout layout = ImageLayout::kNchw;

  // The values of the model input when the metadata was written. Data that contradicts them is rejected.
  struct Observed {
    std::uint64_t samples = 0;
    double minimum = 0, maximum = 0;      // after all steps
    std::vector<double> mean, deviation;  // per channel
  };
  std::optional<Observed> observed;
};

// The golden sample: one sample that was run when the metadata was written.
struct Golden {
  std::string sample;                       // its name
  std::string input_digest, output_digest;  // of the input and output bytes
  // Some values of each output, evenly spaced, to compare other machines and quantized models with.
  std::map<std::string, std::vector<double>> outputs;
};

struct Contract {
  static constexpr int kVersion = 1;
  static constexpr const char* kMetadataKey = "ounce.contract";

  std::map<std::string, InputContract> inputs;
  std::optional<Golden> golden;
};

// Reads a .toml or .json file. Throws Error{kBadInput} for an unknown key, with the most similar known key.
Contract read_contract(const std::filesystem::path& file);
// Reads the metadata of a model; nullopt if it has none.
std::optional<Contract> contract_of(const std::filesystem::path& model);
// Formats the metadata as indented JSON.
std::string to_json(const Contract& contract);

struct DataOptions;
class Progress;
struct RuntimeOptions;

// Writes a copy of `model` with the metadata to `output`, and returns the metadata. With data (not null),
// also records the value ranges and a golden sample. Throws Error.
Contract set_contract(const std::filesystem::path& model, const std::filesystem::path& output,
                      const Contract& contract, const DataOptions* data, const RuntimeOptions& runtime,
                      Progress* progress = nullptr);

struct ContractCheck {
  bool passed = true;
  std::vector<std::string> findings;  // passed and failed checks, as sentences
  std::uint64_t samples = 0;
};

// Checks `data` against the metadata of the model and, if the golden sample is among the data, its outputs.
// `dumps`: model inputs that an app computed for the same samples, by input name ("" for the only input):
// .npy or raw float32 files with one or all samples. They are compared with the preprocessed `data`. Throws
// Error{kBadInput} if the model has no metadata.
ContractCheck check_contract(const std::filesystem::path& model, const DataOptions& data,
                             const RuntimeOptions& runtime, Progress* progress = nullptr,
                             const std::map<std::string, std::filesystem::path>& dumps = {});

// == Data ==
//
// Data for models: files or arrays and their mapping to model inputs, or random values.

// An array in the caller's memory, in row-major order without gaps. The memory must stay valid during the
// call.
struct ArrayView {
  std::string name, type;  // "audio", "float32"
  std::vector<std::int64_t> shape;
  const void* values = nullptr;
};

// Data in memory: either `arrays` or `samples`.
struct MemoryData {
  // One array per input with all samples: the first axis counts samples. An array without axes is constant.
  std::vector<ArrayView> arrays = {};
  // One list of arrays per sample, if shapes differ: without a sample axis or, with has_batch_axis, complete
  // model inputs.
  std::vector<std::vector<ArrayView>> samples = {};
  bool has_batch_axis = false;
};

struct DataOptions {
  // A .npz or .npy file (the first axis counts samples), a folder of images, .wav files or ONNX test data, a
  // .csv or .jsonl list, or a raw .bin file. One path for all inputs, or one path per input name in `paths`.
  std::filesystem::path path;
  std::map<std::string, std::filesystem::path> paths;
  std::shared_ptr<const MemoryData> memory = nullptr;  // replaces `path`

  std::map<std::string, std::string> fields;  // input → array or column of the data, where names differ
  std::map<std::string, double> constants;    // inputs with the same value for every sample
  std::map<std::string, std::string> carry;   // recurrent state: input → output of the previous run
  std::string labels;                         // the array or column with the labels; empty: no labels
  std::uint64_t first = 0, samples = 0;       // the first sample, and the number of samples (0: all)
  std::uint64_t part = 0, parts = 1;          // use every parts-th sample, starting with number `part`
  std::uint64_t batch = 1;                    // samples per run
  // Lengths of dynamic axes, by axis name or as "input:axis", for random values and for states.
  std::map<std::string, std::int64_t> shape;
  std::uint64_t seed = 1;            // of random values
  std::optional<Contract> contract;  // replaces the preprocessing metadata of the model
  // Derive missing preprocessing from the first sample and the input: the layout, and the scale of 8-bit
  // values. The open data report it in their notes. Means and deviations cannot be derived from data.
  bool derive_contract = false;

  bool is_generated() const { return path.empty() && paths.empty() && !memory; }
};

}  // namespace ounce
