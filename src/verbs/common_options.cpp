#include "verbs/common_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>
#include <ounce/runtime.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace ounce::verbs {
namespace {

// "224x224" is height × width, "256" one number.
std::pair<std::int64_t, std::int64_t> size_of(const std::string& text, const char* option) {
  const std::size_t times = text.find('x');
  if (times == std::string::npos) return {whole_of(text, option), 0};
  return {whole_of(std::string_view(text).substr(0, times), option),
          whole_of(std::string_view(text).substr(times + 1), option)};
}

// The preprocessing options change the input that --for names; the empty name means the only input.
class ContractBinding {
 public:
  ContractBinding(Options& options, std::optional<Contract>& contract)
      : options_(options), contract_(contract) {}

  using Change = std::function<void(InputContract& input, const std::string& word)>;
  // `kind`: the kind of input that this option implies, unless --kind is given.
  Option* add(const char* name, std::optional<InputKind> kind, const char* help, Change change) {
    return options_.add_text(name, help,
                             [&options = options_, &contract = contract_, kind,
                              change = std::move(change)](const std::string& word) {
                               if (!contract) contract.emplace();
                               const std::vector<std::string>& names = options.find("--for")->given;
                               InputContract& input = contract->inputs[names.empty() ? "" : names.back()];
                               if (kind && !options.has("--kind")) input.kind = *kind;
                               change(input, word);
                             });
  }
  template <class Enum>
  void add_name(const char* name, std::optional<InputKind> kind, Enum InputContract::*field,
                const char* help) {
    add(name, kind, help, [field](InputContract& input, const std::string& word) {
      input.*field = from_name<Enum>(word).value();
    })->check(any_sorted_name_of<Enum>());
  }
  void add_count(const char* name, std::optional<InputKind> kind, std::int64_t InputContract::*field,
                 std::int64_t most, const char* help) {
    Option* const option =
        add(name, kind, help, [field, name](InputContract& input, const std::string& word) {
          input.*field = whole_of(word, name);
        });
    option->type_name(type_of(std::int64_t()))->check(whole_between(1, most));
  }

 private:
  Options& options_;
  std::optional<Contract>& contract_;
};

}  // namespace

void add_contract_options(Options& options, std::optional<Contract>& contract, bool* derive) {
  const Heading heading(options, kPreprocessingHeading);
  constexpr std::int64_t kMostSamples = 100'000'000;
  constexpr auto kAny = std::nullopt;
  constexpr auto kImage = InputKind::kImage, kAudio = InputKind::kAudio;
  ContractBinding input(options, contract);
  options
      .add_text(
          "--preprocess",
          fmt::format("Read the preprocessing from a .toml or .json file, or a preprocessor_config.json "
                      "of Hugging Face{} (default: the metadata of the model)",
                      derive == nullptr ? ""
                                        : "; auto: derive layout, size and scale from the data, and "
                                          "report them"),
          [&contract, derive](const std::string& file) {
            if (derive != nullptr && file == "auto")
              *derive = true;
            else
              contract = read_contract(file);
          })
      ->formerly("--contract")
      ->type_name("FILE");
  options.add_text("--for", "Apply the preprocessing options to this input (default: the only input)",
                   [](const std::string&) {});
  input.add_name("--kind", kAny, &InputContract::kind,
                 "Set the kind of input: image, audio or tensor (default: from the other options)");
  input.add("--size", kImage, "Resize images to HEIGHTxWIDTH, or their shorter side to S. Example: 224x224",
            [](InputContract& image, const std::string& word) {
              const auto [height, width] = size_of(word, "--size");
              (width == 0 ? image.shortest_edge : image.height) = height;
              image.width = width;
            });
  input.add("--resample", kAny,
            "Set the interpolation: nearest, box, bilinear, hamming, bicubic, lanczos; with OpenCV nearest, "
            "bilinear, bicubic, area (default: bilinear)",
            [](InputContract& image, const std::string& word) { image.resample = word; });
  input.add_name("--resize-backend", kAny, &InputContract::backend,
                 "Resize exactly like this library: pillow (default) or opencv");
  input.add("--crop", kImage, "Crop the center to HEIGHTxWIDTH or SxS. Examples: 224x224, 224",
            [](InputContract& image, const std::string& word) {
              const auto [height, width] = size_of(word, "--crop");
              image.crop_height = height;
              image.crop_width = width == 0 ? height : width;
            });
  input.add_name("--crop-rule", kAny, &InputContract::crop_rule,
                 "Round the position of the crop like torchvision (default) or huggingface");
  input.add_name("--color", kImage, &InputContract::color_order,
                 "Set the channel order of the model input: rgb (default), bgr or grey");
  input.add_name(
      "--layout", kImage, &InputContract::layout,
      "Set the layout of the model input: nchw (channels first) or nhwc. Images and uint8 arrays in the data "
      "are always height, width, channels");
  input.add("--rescale", kAny, "Multiply raw values by this factor. Example: 1/255",
            [](InputContract& any, const std::string& word) {
              any.rescale_factor = fraction_of(word, "--rescale");
            });
  input
      .add(
          "--mean", kAny,
          "Subtract this mean after --rescale: one number, or one per channel, separated by commas. Example: "
          "0.485,0.456,0.406",
          [](InputContract& any, const std::string& word) { any.mean = numbers_of(word, "--mean"); })
      ->joined("NUMBER");
  input
      .add("--std", kAny,
           "Divide by this standard deviation after --mean: one number, or one per channel, separated by "
           "commas. Example: 0.229,0.224,0.225",
           [](InputContract& any, const std::string& word) { any.deviation = numbers_of(word, "--std"); })
      ->joined("NUMBER");
  input.add_count("--rate", kAudio, &InputContract::sampling_rate, 10'000'000,
                  "Require this sampling rate of audio, in Hz. Example: 16000");
  input.add_count("--length", kAudio, &InputContract::length, kMostSamples,
                  "Cut or zero-pad audio to this number of samples");
  input.add_count("--frame", kAudio, &InputContract::frame_length, kMostSamples,
                  "Split audio into frames of this many samples; each frame is one run of the model");
  input.add_count("--hop", kAny, &InputContract::hop_length, kMostSamples,
                  "Set the hop length between frames, in samples (default: the length of a frame)");
}

void add_data_options(Options& options, DataOptions& data, bool with_contract,
                      const std::string& without_data) {
  const Heading heading(options, kDataHeading);
  options
      .add_list("--data",
                "Read samples from a .npz, .npy, .csv, .jsonl, .wav or raw .bin file, or from a folder of "
                "images, audio files or ONNX test data; INPUT=PATH feeds one input (repeatable; " +
                    without_data + ")",
                [&data](const std::string& word) {
                  if (word.empty() || word.ends_with('='))
                    throw Error(
                        ErrorCode::kUsage,
                        fmt::format("`--data` '{}' names no file; leave it out for random inputs", word));
                  // A file name may contain an equals sign.
                  if (word.find('=') != word.npos && !std::filesystem::exists(word)) {
                    const auto [name, path] = split_pair(word, "--data");
                    data.paths[name] = path;
                  } else if (data.path.empty()) {
                    data.path = word;
                  } else {
                    throw Error(ErrorCode::kUsage,
                                "several `--data` options need input names: `--data` INPUT=PATH");
                  }
                })
      ->type_name("PATH");
  options.add_list(
      "--input",
      "Feed an input from this array or column of the data, as INPUT=FIELD (repeatable). Example: "
      "input=x",
      [&data](const std::string& word) { data.fields.insert(split_pair(word, "--input")); });
  options.add_list("--set", "Set an input to a constant, as INPUT=NUMBER (repeatable)",
                   [&data](const std::string& word) {
                     const auto [name, value] = split_pair(word, "--set");
                     data.constants[name] = fraction_of(value, "--set");
                   });
  options.add_list(
      "--carry",
      "Declare a recurrent state, as INPUT=OUTPUT: it starts at zero, and each run gets the output "
      "of the run before (repeatable)",
      [&data](const std::string& word) { data.carry.insert(split_pair(word, "--carry")); });
  options.add_option("--labels", data.labels,
                     "Read labels from this array or column of the data; 'folder' uses the names of image "
                     "folders (default: no labels)");
  options.add_option("--first", data.first, "Start at this sample (default: 0)")->check(whole_number());
  options.add_option("--samples", data.samples, "Use this many samples (default: 0, all)")
      ->check(whole_number());
  options.add_text(
      "--part", "Use every N-th sample only, starting with the I-th, as I/N; 1/2 and 2/2 are disjoint halves",
      [&data](const std::string& word) { std::tie(data.part, data.parts) = part_of(word, "--part"); });
  add_shape_option(options, data.shape, "Set the length of a dynamic axis of random inputs");
  options.add_option("--seed", data.seed, "Set the seed of random inputs")
      ->check(whole_number())
      ->show_default();
  if (with_contract) add_contract_options(options, data.contract, &data.derive_contract);
}

void add_shape_option(Options& options, std::map<std::string, std::int64_t>& shape, const std::string& help) {
  options.add_list("--shape", help + ", as NAME=LENGTH or INPUT:AXIS=LENGTH (repeatable)",
                   [&shape](const std::string& word) {
                     const auto [name, value] = split_pair(word, "--shape");
                     shape[name] = whole_of(value, "--shape");
                   });
}

void add_batch_option(Options& options, DataOptions& data) {
  options.add_option("--batch", data.batch, "Run this many samples per call")
      ->check(whole_between(1, 1'000'000))
      ->show_default();
}

void use_given(DataOptions& data, const InMemoryInputs& given) {
  data.memory = given.data;
  if (data.memory && !data.path.empty())
    throw Error(ErrorCode::kUsage, "data is given twice, in memory and by `--data`: leave one out");
}

namespace {

std::vector<std::string> metric_names() {
  std::vector<std::string> names = {kAutoMetric};
  for (const MetricDescription& metric : known_metrics()) names.emplace_back(metric.name);
  return names;
}

std::string metric_help() {
  std::vector<std::string> all;
  for (const MetricDescription& metric : known_metrics())
    all.push_back(fmt::format("{} ({})", metric.name, metric.help));
  return fmt::format("Choose the metric to compare: {}. Default: by --task, or by the labels",
                     fmt::join(all, ", "));
}

std::string metrics_of(MetricUnit unit) {
  std::vector<std::string_view> names;
  for (const MetricDescription& metric : known_metrics()) {
    if (metric.unit == unit) names.push_back(metric.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// A drop without a name limits the first metric, and is at most 20 %; a drop with a name has the unit of its
// metric.
void read_drop(const std::string& text, Gates& gates) {
  if (text.find('=') == std::string::npos) {
    gates.max_drop = share_of(text, "--max-drop", 0.2);
    return;
  }
  const auto [name, value] = split_pair(text, "--max-drop");
  const bool is_percent = value.ends_with('%');
  const double limit = fraction_of(is_percent ? value.substr(0, value.size() - 1) : value, "--max-drop");
  if (limit < 0) throw Error(ErrorCode::kUsage, fmt::format("`--max-drop` '{}' must be 0 or more", text));
  gates.max_drops[name] = is_percent ? limit / 100 : limit;
}

double confidence_of(const std::string& text, const char* option) {
  return text == "none" ? 0 : share_of(text, option, 1);
}

}  // namespace

void add_gate_options(Options& options, Gates& gates, QualityOptions& quality, const std::string& title,
                      const std::string& usual) {
  {
    const Heading heading(options, title);
    options
        .add_option("--abs-tol", gates.max_abs_diff,
                    "Fail if any value differs by more than this. Example: 0.04")
        ->check(number_between(0, 1e300));
    options
        .add_option("--mean-tol", gates.mean_abs_diff,
                    "Fail if the mean absolute difference of an output is larger. Example: 0.01")
        ->check(number_between(0, 1e300));
    options
        .add_option("--max-mse", gates.max_mse,
                    "Fail if the mean squared error of an output is larger. Example: 1e-4")
        ->check(number_between(0, 1e300));
    options
        .add_option("--min-sqnr", gates.min_sqnr,
                    "Fail if the SQNR of an output, or of a part of it, is lower, in dB. Example: 30")
        ->check(number_between(-1000, 1000));
    options.add_converted(
        "--min-agreement", gates.min_agreement, share_up_to(1),
        "Fail if fewer predictions agree: top-1 classes, and outputs that are labels. Example: 99%");
    options.add_converted("--max-flips", gates.max_flips, share_up_to(1),
                          "Fail if a larger share of decisions changes at --threshold. Example: 0.5%");
    options.add_list(
        "--max-drop",
        fmt::format(
            "Fail if the metric drops by more: points of {}; relative for {}. NAME=0.5% limits one of "
            "several metrics (repeatable). Example: 0.5%",
            metrics_of(MetricUnit::kShare), metrics_of(MetricUnit::kRelative)),
        [&gates](const std::string& word) { read_drop(word, gates); });
    options.add_converted(
        "--confidence", gates.confidence, confidence_of,
        "Require this confidence that the thresholds hold on unseen data, such as 90% or 95%; none judges "
        "only these samples (default: " +
            usual + ")");
  }
  add_metric_options(options, quality);
}

void add_gate_set_option(Options& options, Gates& gates) {
  options
      .add_option(
          "--gate", gates.set,
          "Use a set of thresholds: standard (with labels, the metric may drop by 0.5 points for 16-bit "
          "weights and by 2 points for 8-bit weights or fewer; without labels, the mean squared error "
          "of an output may be 0.01), none. Other thresholds take precedence")
      ->show_default();
}

void add_metric_command_options(Options& options, MetricCommand& command, const std::string& help) {
  options.add_option("--metric-command", command.command, help);
  options.add_option("--metric-seconds", command.seconds, "Limit the time of --metric-command, in seconds")
      ->check(number_between(0.1, 1e6))
      ->show_default();
}

void add_metric_options(Options& options, QualityOptions& quality) {
  options
      .add_option("--task", quality.task,
                  "Choose the task, which decides the metrics: classify, detect, embed, ctc, segment, tag, "
                  "audio, regress, or auto. Without labels, the outputs of the original are the reference")
      ->show_default();
  add_metric_command_options(
      options, quality.metric_command,
      "Compute the metric with this program: it gets the folder with the outputs of both models and prints a "
      "number. Example: 'python3 score.py'");
  options.add_option("--metric", quality.metric, metric_help())
      ->check(any_of(metric_names()))
      ->show_default();
  options
      .add_text(
          "--tags",
          "Name the classes of --task tag, separated by commas. Example: O,B-PER,I-PER (default: O, then "
          "B and I in turn)",
          [&quality](const std::string& word) { quality.tags = split_commas(word); })
      ->joined("NAME");
  options.add_option("--label-output", quality.label_output,
                     "Compare the labels with this output (default: the first)");
  options
      .add_option("--outputs", quality.outputs,
                  "Apply the thresholds to these outputs only; the others are compared and reported "
                  "(repeatable, or separated by commas). Example: probabilities")
      ->delimiter(',')
      ->one_at_a_time();
  options
      .add_option("--threshold", quality.threshold,
                  "Set the decision threshold of an output to count changed decisions (two columns of "
                  "probabilities are one decision); with --task detect, the lowest score of a box")
      ->check(number_between(-1e300, 1e300));
}

void use_given(MetricCommand& command, const InMemoryInputs& given) {
  if (given.metric && !command.command.empty())
    throw Error(ErrorCode::kUsage,
                "the metric is given twice, as a function and by `--metric-command`: leave one out");
  command.function = given.metric;
}

void add_isolation_options(Options& options, std::optional<Isolation>& isolation) {
  const Heading heading(options, "Runtime");
  constexpr double kGigabyte = 1024.0 * 1024 * 1024;
  options.add_flag(
      "--isolate,!--no-isolate", "Run models in a separate process with limits (default: on)",
      [&isolation](bool is_on) { isolation = is_on ? std::optional(Isolation()) : std::nullopt; });
  const auto add_limit = [&](const char* name, double usual, double most, const char* help, auto set) {
    options
        .add_text(name, help,
                  [&isolation, name, set](const std::string& word) {
                    if (isolation) set(*isolation, fraction_of(word, name));
                  })
        ->type_name(type_of(usual))
        ->check(number_between(0, most))
        ->show_default(text_of(usual))
        ->expert();
  };
  add_limit("--isolate-memory", 0, 1e6,
            "Limit the address space of the separate process, in GiB (0: the memory of the machine)",
            [](Isolation& process, double gigabytes) {
              process.memory = static_cast<std::uint64_t>(gigabytes * kGigabyte);
            });
  add_limit("--isolate-seconds", Isolation{}.seconds, 1e9,
            "Limit the time for loading a model and for each run, in seconds (0: no limit)",
            [](Isolation& process, double seconds) { process.seconds = seconds; });
}

void add_runtime_options(Options& options, RuntimeOptions& runtime) {
  const Heading heading(options, "Runtime");
  options.add_option("--runtime", runtime.library,
                     "Use this ONNX Runtime: the path of a library, or a version (default: the newest)");
  options.add_option("--litert", runtime.litert,
                     "Use this LiteRT for .tflite models: the path of a library, or a version (default: the "
                     "newest)");
  options
      .add_option("-x,--threads", runtime.threads,
                  "Use this many threads inside an op (0: the runtime decides)")
      ->check(whole_between(0, 1024))
      ->show_default();
  options.add_option("-y,--threads-between", runtime.threads_between, "Run this many ops in parallel")
      ->check(whole_between(1, 1024))
      ->show_default();
  options
      .add_option("--optimization", runtime.optimization,
                  "Set the graph optimization level of ONNX Runtime: none, basic, extended, all")
      ->show_default();
  options.add_list(
      "--session-config",
      "Add an entry to the session options of ONNX Runtime, as KEY=VALUE (repeatable). Example: "
      "session.disable_quant_qdq=1",
      [&runtime](const std::string& word) { runtime.config.insert(split_pair(word, "--session-config")); });
  add_isolation_options(options, runtime.isolate);
}

void add_remote_options(Options& options, Remote& remote) {
  const Heading heading(options, "Remote machine or emulator");
  options.add_option("--via", remote.via,
                     "Run models on another machine, with the command that runs a shell command on it. "
                     "Examples: 'ssh board', 'adb shell'");
  options.add_option("--launcher", remote.launcher,
                     "Start ounce-runner with this command. Example: 'qemu-aarch64 -L "
                     "/usr/aarch64-linux-gnu'");
  options.add_option("--runner", remote.runner,
                     "Send this local file as ounce-runner to the remote machine (default: ounce-runner or "
                     "ounce-runner-arm64)");
  options.add_option(
      "--runtime-there", remote.library,
      "Send this ONNX Runtime to the remote machine: a local library, or a version (default: the "
      "newest)");
  options.add_option(
      "--folder-there", remote.folder,
      "Put the runner, the library and models into this folder of the remote machine (default: "
      "a folder in /tmp)");
  options.add_flag("--keep-there", remote.keep,
                   "Keep models on the remote machine, so that later runs need not send them");
  options
      .add_option("--seconds-there", remote.seconds,
                  "Limit the time for each reply and for sending each file, in seconds")
      ->check(number_between(0.1, 1e6))
      ->show_default();
}

std::optional<Remote> remote_of(const Remote& remote) {
  if (!remote.via.empty() || !remote.launcher.empty() || !remote.runner.empty()) return remote;
  if (remote.library.empty() && remote.folder.empty() && !remote.keep) return std::nullopt;
  throw Error(ErrorCode::kUsage, "no remote machine is given: name it with `--via` or `--launcher`");
}

void add_cpu_option(Options& options, std::string& on, const char* help) {
  options.add_option("--on", on, help)->joined("CPU");
}

std::vector<std::string> cpus_of(const std::string& on) {
  if (on == "auto") return other_cpus();
  if (on == "none" || on.empty()) return {};
  const std::vector<std::string> known = known_cpus();
  std::vector<std::string> cpus = split_commas(on);
  for (const std::string& name : cpus) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("`--on`: unknown CPU '{}'; known CPUs: {}", name, fmt::join(known, ", ")));
  }
  return cpus;
}

std::string usual_cpus() {
  const char* const usual = std::getenv("OUNCE_ON");
  return usual == nullptr || *usual == '\0' ? "auto" : usual;
}

}  // namespace ounce::verbs
