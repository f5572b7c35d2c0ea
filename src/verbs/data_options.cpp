#include "verbs/data_options.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <charconv>
#include <cmath>

#include "verbs/option_kinds.h"
#include "verbs/recipe_options.h"
#include "verbs/runtime_options.h"

namespace ounce::verbs {
namespace {

[[noreturn]] void refuse(const char* option, const std::string& text, const char* wanted) {
  throw Error(ErrorCode::kUsage, fmt::format("{} '{}' must be {}", option, text, wanted));
}

double number_of(std::string_view text, const char* option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    refuse(option, std::string(text), "a number");
  return value;
}

}  // namespace

double fraction_of(const std::string& text, const char* option) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return number_of(text, option);
  const double below = number_of(std::string_view(text).substr(slash + 1), option);
  if (below == 0) refuse(option, text, "a number or a fraction such as 1/255");
  return number_of(std::string_view(text).substr(0, slash), option) / below;
}

namespace {

std::vector<double> numbers_of(const std::string& text, const char* option) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    numbers.push_back(fraction_of(text.substr(at, comma - at), option));
    at = comma + 1;
  }
  return numbers;
}

std::int64_t whole_of(std::string_view text, const char* option) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    refuse(option, std::string(text), "a whole number above 0");
  return value;
}

// "224x224" is height × width, "256" one number.
std::pair<std::int64_t, std::int64_t> size_of(const std::string& text, const char* option) {
  const std::size_t times = text.find('x');
  if (times == std::string::npos) return {whole_of(text, option), 0};
  return {whole_of(std::string_view(text).substr(0, times), option),
          whole_of(std::string_view(text).substr(times + 1), option)};
}

}  // namespace

void add_contract_options(CLI::App& app, ContractArguments& arguments, const char* file_option) {
  const char* group = "How raw data becomes an input (the contract)";
  app.add_option(file_option, arguments.file,
                 "a .toml or .json file that says it, also a preprocessor_config.json")
      ->group(group);
  app.add_option("--for", arguments.input, "the input that these options speak of (default: the only one)")
      ->group(group);
  app.add_option("--kind", arguments.kind, "image, audio or tensor")
      ->check(any_sorted_name_of<InputKind>())
      ->group(group);
  app.add_option("--size", arguments.size, "resize to HEIGHTxWIDTH, or the shorter side to S")->group(group);
  app.add_option(
         "--resample", arguments.resample,
         "nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic, area")
      ->group(group);
  app.add_option("--resize-backend", arguments.backend, "resize as pillow or as opencv does")
      ->check(any_sorted_name_of<ResizeBackend>())
      ->group(group);
  app.add_option("--crop", arguments.crop, "cut out the middle: HEIGHTxWIDTH or S")->group(group);
  app.add_option("--crop-rule", arguments.crop_rule, "where the middle is: torchvision or huggingface")
      ->check(any_sorted_name_of<CropRule>())
      ->group(group);
  app.add_option("--color", arguments.color, "rgb, bgr or grey")
      ->check(any_sorted_name_of<ColorOrder>())
      ->group(group);
  app.add_option("--layout", arguments.layout,
                 "layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of "
                 "data are height, width, channels")
      ->check(any_sorted_name_of<ImageLayout>())
      ->group(group);
  app.add_option("--rescale", arguments.rescale, "multiply by this, such as 1/255")->group(group);
  app.add_option("--mean", arguments.mean, "then subtract: one number, or one for each channel, with commas")
      ->type_name(as_joined_list("NUMBER"))
      ->group(group);
  app.add_option("--std", arguments.deviation,
                 "then divide by: one number, or one for each channel, with commas")
      ->type_name(as_joined_list("NUMBER"))
      ->group(group);
  app.add_option("--rate", arguments.rate, "samples a second that sound must have")
      ->check(CLI::Range(1, 10'000'000))
      ->group(group);
  app.add_option("--length", arguments.length,
                 "samples that the model takes: longer sound is cut, shorter filled up")
      ->check(CLI::Range(1, 100'000'000))
      ->group(group);
  app.add_option("--frame", arguments.frame,
                 "cut sound into frames of so many samples, each a run of the model")
      ->check(CLI::Range(1, 100'000'000))
      ->group(group);
  app.add_option("--hop", arguments.hop,
                 "a frame every so many samples; what it is longer lies before (default: --frame)")
      ->check(CLI::Range(1, 100'000'000))
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

namespace {

void read_part(const std::string& text, DataOptions& options) {
  if (text.empty()) return;
  const char* const last = text.data() + text.size();
  std::uint64_t number = 0, count = 0;
  const auto [slash, failure] = std::from_chars(text.data(), last, number);
  const bool has_slash = failure == std::errc() && slash != last && *slash == '/';
  const auto [end, second] =
      has_slash ? std::from_chars(slash + 1, last, count) : std::from_chars_result{slash, failure};
  if (!has_slash || second != std::errc() || end != last || number == 0 || number > count)
    throw Error(ErrorCode::kUsage, fmt::format("--part '{}' must be I/N with I from 1 to N", text));
  options.part = number - 1;
  options.parts = count;
}

}  // namespace

void add_data_options(CLI::App& app, DataArguments& arguments, bool with_contract,
                      const std::string& without_data) {
  const char* group = "Data";
  app.add_option("--data", arguments.data,
                 "a .npz, .npy, .csv, .jsonl, .wav or raw .bin file, or a folder of images, sound or test "
                 "data; or NAME=PATH for one "
                 "input (repeatable; " +
                     without_data + ")")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--input", arguments.inputs,
                 "INPUT=FIELD: which array or column feeds an input (repeatable)")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--set", arguments.constants, "INPUT=NUMBER: an input that is always the same (repeatable)")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--carry", arguments.carry,
                 "INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (repeatable)")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--labels", arguments.labels,
                 "the array or column with the labels; 'folder' for folders of images")
      ->group(group);
  app.add_option("--first", arguments.first, "begin with this sample")->check(whole_number())->group(group);
  app.add_option("--samples", arguments.samples, "so many samples (0: all)")
      ->check(whole_number())
      ->group(group);
  app.add_option("--part", arguments.part,
                 "I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common")
      ->group(group);
  app.add_option("--shape", arguments.shape,
                 "NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (repeatable)")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--seed", arguments.seed, "seed of random inputs")
      ->check(whole_number())
      ->capture_default_str()
      ->group(group);
  if (with_contract) add_contract_options(app, arguments.contract, "--contract");
}

DataOptions data_options_of(const DataArguments& arguments, const Given& given) {
  DataOptions options;
  options.memory = given.data;
  for (const std::string& data : arguments.data) {
    if (data.empty() || data.ends_with('=')) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("--data '{}' names no file; leave it out for random inputs", data));
    }
    const std::size_t equals = data.find('=');
    // A file whose name has an equals sign is a file all the same.
    if (equals == std::string::npos || std::filesystem::exists(data)) {
      if (!options.path.empty())
        throw Error(ErrorCode::kUsage, "several --data need names: --data INPUT=PATH");
      options.path = data;
    } else {
      const auto [name, path] = split_pair(data, "--data");
      options.paths[name] = path;
    }
  }
  if (options.memory && !options.path.empty())
    throw Error(ErrorCode::kUsage, "there is data in memory and --data: leave one out");
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
  read_part(arguments.part, options);
  options.batch = arguments.batch;
  options.seed = arguments.seed;
  options.contract = contract_from(arguments.contract);
  return options;
}

double share_of(const std::string& text, const char* option, double largest_bare) {
  const bool is_percent = text.ends_with('%');
  const double value =
      number_of(std::string_view(text).substr(0, text.size() - (is_percent ? 1 : 0)), option);
  const double share = is_percent ? value / 100 : value;
  if (!is_percent && value > largest_bare) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} '{}' is {:.0f} %; did you mean '{}%'?", option, text, 100 * value, text));
  }
  if (share < 0 || share > 1) refuse(option, text, "from 0 to 100%");
  return share;
}

}  // namespace ounce::verbs
