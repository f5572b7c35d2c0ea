#include "verbs/data_options.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <tuple>

#include "verbs/json_options.h"

namespace ounce::verbs {
namespace {

// "224x224" is height × width, "256" one number.
std::pair<std::int64_t, std::int64_t> size_of(const std::string& text, const char* option) {
  const std::size_t times = text.find('x');
  if (times == std::string::npos) return {whole_of(text, option), 0};
  return {whole_of(std::string_view(text).substr(0, times), option),
          whole_of(std::string_view(text).substr(times + 1), option)};
}

}  // namespace

void add_contract_options(Options& options, ContractArguments& arguments, const char* file_option) {
  const char* group = "How raw data becomes an input (the contract)";
  options
      .add_option(file_option, arguments.file,
                  "a .toml or .json file that says it, also a preprocessor_config.json")
      ->group(group);
  options
      .add_option("--for", arguments.input, "the input that these options speak of (default: the only one)")
      ->group(group);
  options.add_option("--kind", arguments.kind, "image, audio or tensor")
      ->check(any_sorted_name_of<InputKind>())
      ->group(group);
  options.add_option("--size", arguments.size, "resize to HEIGHTxWIDTH, or the shorter side to S")
      ->group(group);
  options
      .add_option(
          "--resample", arguments.resample,
          "nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic, area")
      ->group(group);
  options.add_option("--resize-backend", arguments.backend, "resize as pillow or as opencv does")
      ->check(any_sorted_name_of<ResizeBackend>())
      ->group(group);
  options.add_option("--crop", arguments.crop, "cut out the middle: HEIGHTxWIDTH or S")->group(group);
  options.add_option("--crop-rule", arguments.crop_rule, "where the middle is: torchvision or huggingface")
      ->check(any_sorted_name_of<CropRule>())
      ->group(group);
  options.add_option("--color", arguments.color, "rgb, bgr or grey")
      ->check(any_sorted_name_of<ColorOrder>())
      ->group(group);
  options
      .add_option("--layout", arguments.layout,
                  "layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of "
                  "data are height, width, channels")
      ->check(any_sorted_name_of<ImageLayout>())
      ->group(group);
  options.add_option("--rescale", arguments.rescale, "multiply by this, such as 1/255")->group(group);
  options
      .add_option("--mean", arguments.mean, "then subtract: one number, or one for each channel, with commas")
      ->joined("NUMBER")
      ->group(group);
  options
      .add_option("--std", arguments.deviation,
                  "then divide by: one number, or one for each channel, with commas")
      ->joined("NUMBER")
      ->group(group);
  options.add_option("--rate", arguments.rate, "samples a second that sound must have")
      ->check(whole_between(1, 10'000'000))
      ->group(group);
  options
      .add_option("--length", arguments.length,
                  "samples that the model takes: longer sound is cut, shorter filled up")
      ->check(whole_between(1, 100'000'000))
      ->group(group);
  options
      .add_option("--frame", arguments.frame,
                  "cut sound into frames of so many samples, each a run of the model")
      ->check(whole_between(1, 100'000'000))
      ->group(group);
  options
      .add_option("--hop", arguments.hop,
                  "a frame every so many samples; what it is longer lies before (default: --frame)")
      ->check(whole_between(1, 100'000'000))
      ->group(group);
}

std::optional<Contract> contract_from(const ContractArguments& arguments) {
  const bool has_flags = !arguments.kind.empty() || !arguments.color.empty() || !arguments.size.empty() ||
                         !arguments.resample.empty() || !arguments.backend.empty() ||
                         !arguments.crop.empty() || !arguments.crop_rule.empty() ||
                         !arguments.layout.empty() || !arguments.rescale.empty() || !arguments.mean.empty() ||
                         !arguments.deviation.empty() || arguments.rate > 0 || arguments.length > 0 ||
                         arguments.frame > 0 || arguments.hop > 0;
  std::optional<Contract> contract;
  if (!arguments.file.empty()) contract = read_contract(arguments.file);
  if (!has_flags) return contract;
  if (!contract) contract.emplace();
  // Flags change the input that they speak of; the nameless one is the model's only one.
  InputContract& input = contract->inputs[arguments.input];
  const bool speaks_of_images = !arguments.color.empty() || !arguments.size.empty() ||
                                !arguments.crop.empty() || !arguments.layout.empty();
  const bool speaks_of_sound = arguments.rate > 0 || arguments.length > 0 || arguments.frame > 0;
  if (speaks_of_images) input.kind = InputKind::kImage;
  if (speaks_of_sound) input.kind = InputKind::kAudio;
  if (!arguments.kind.empty()) input.kind = value_of<InputKind>(arguments.kind);
  if (!arguments.color.empty()) input.color_order = value_of<ColorOrder>(arguments.color);
  if (!arguments.size.empty()) {
    const auto [height, width] = size_of(arguments.size, "--size");
    (width == 0 ? input.shortest_edge : input.height) = height;
    input.width = width;
  }
  if (!arguments.resample.empty()) input.resample = arguments.resample;
  if (!arguments.backend.empty()) input.backend = value_of<ResizeBackend>(arguments.backend);
  if (!arguments.crop.empty()) {
    const auto [height, width] = size_of(arguments.crop, "--crop");
    input.crop_height = height;
    input.crop_width = width == 0 ? height : width;
  }
  if (!arguments.crop_rule.empty()) input.crop_rule = value_of<CropRule>(arguments.crop_rule);
  if (!arguments.layout.empty()) input.layout = value_of<ImageLayout>(arguments.layout);
  if (!arguments.rescale.empty()) input.rescale_factor = fraction_of(arguments.rescale, "--rescale");
  if (!arguments.mean.empty()) input.mean = numbers_of(arguments.mean, "--mean");
  if (!arguments.deviation.empty()) input.deviation = numbers_of(arguments.deviation, "--std");
  if (arguments.rate > 0) input.sampling_rate = arguments.rate;
  if (arguments.length > 0) input.length = arguments.length;
  if (arguments.frame > 0) input.frame_length = arguments.frame;
  if (arguments.hop > 0) input.hop_length = arguments.hop;
  return contract;
}

void add_data_options(Options& options, DataArguments& arguments, bool with_contract,
                      const std::string& without_data) {
  const char* group = "Data";
  options
      .add_option("--data", arguments.data,
                  "a .npz, .npy, .csv, .jsonl, .wav or raw .bin file, or a folder of images, sound or test "
                  "data; or NAME=PATH for one "
                  "input (repeatable; " +
                      without_data + ")")
      ->one_at_a_time()
      ->group(group);
  options
      .add_option("--input", arguments.inputs,
                  "INPUT=FIELD: which array or column feeds an input (repeatable)")
      ->one_at_a_time()
      ->group(group);
  options
      .add_option("--set", arguments.constants, "INPUT=NUMBER: an input that is always the same (repeatable)")
      ->one_at_a_time()
      ->group(group);
  options
      .add_option("--carry", arguments.carry,
                  "INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (repeatable)")
      ->one_at_a_time()
      ->group(group);
  options
      .add_option("--labels", arguments.labels,
                  "the array or column with the labels; 'folder' for folders of images")
      ->group(group);
  options.add_option("--first", arguments.first, "begin with this sample")
      ->check(whole_number())
      ->group(group);
  options.add_option("--samples", arguments.samples, "so many samples (0: all)")
      ->check(whole_number())
      ->group(group);
  options
      .add_option("--part", arguments.part,
                  "I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common")
      ->group(group);
  options
      .add_option("--shape", arguments.shape,
                  "NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (repeatable)")
      ->one_at_a_time()
      ->group(group);
  options.add_option("--seed", arguments.seed, "seed of random inputs")
      ->check(whole_number())
      ->show_default()
      ->group(group);
  if (with_contract) add_contract_options(options, arguments.contract, "--contract");
}

DataOptions data_options_of(const DataArguments& arguments, const InMemoryInputs& given) {
  DataOptions options;
  options.memory = given.data;
  for (const std::string& data : arguments.data) {
    if (data.empty() || data.ends_with('=')) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("`--data` '{}' names no file; leave it out for random inputs", data));
    }
    const std::size_t equals = data.find('=');
    // A file whose name has an equals sign is a file all the same.
    if (equals == std::string::npos || std::filesystem::exists(data)) {
      if (!options.path.empty())
        throw Error(ErrorCode::kUsage, "several `--data` need names: `--data` INPUT=PATH");
      options.path = data;
    } else {
      const auto [name, path] = split_pair(data, "--data");
      options.paths[name] = path;
    }
  }
  if (options.memory && !options.path.empty())
    throw Error(ErrorCode::kUsage, "there is data in memory and `--data`: leave one out");
  for (const std::string& text : arguments.inputs) options.fields.insert(split_pair(text, "--input"));
  for (const std::string& text : arguments.carry) options.carry.insert(split_pair(text, "--carry"));
  for (const std::string& text : arguments.constants) {
    const auto [name, value] = split_pair(text, "--set");
    options.constants[name] = fraction_of(value, "--set");
  }
  for (const std::string& text : arguments.shape) {
    const auto [name, value] = split_pair(text, "--shape");
    options.shape[name] = whole_of(value, "--shape");
  }
  options.labels = arguments.labels;
  options.first = arguments.first;
  options.samples = arguments.samples;
  if (!arguments.part.empty()) std::tie(options.part, options.parts) = part_of(arguments.part, "--part");
  options.batch = arguments.batch;
  options.seed = arguments.seed;
  options.contract = contract_from(arguments.contract);
  return options;
}

}  // namespace ounce::verbs
