#include "verbs/common_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/cpus.h>
#include <ounce/error.h>

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

// Options of a contract change the input that --for names; the nameless one is the model's only one.
class ContractBinding {
 public:
  ContractBinding(Options& options, std::optional<Contract>& contract)
      : options_(options), contract_(contract) {}

  using Change = std::function<void(InputContract& input, const std::string& word)>;
  // `kind`: what an input is that has such an option, unless --kind says something else.
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

void add_contract_options(Options& options, std::optional<Contract>& contract, const char* file_option) {
  const Heading heading(options, "How raw data becomes an input (the contract)");
  constexpr std::int64_t kMostSamples = 100'000'000;
  constexpr auto kAny = std::nullopt;
  constexpr auto kImage = InputKind::kImage, kAudio = InputKind::kAudio;
  ContractBinding input(options, contract);
  options.add_text(file_option, "a .toml or .json file that says it, also a preprocessor_config.json",
                   [&contract](const std::string& file) { contract = read_contract(file); });
  options.add_text("--for", "the input that these options speak of (default: the only one)",
                   [](const std::string&) {});
  input.add_name("--kind", kAny, &InputContract::kind, "image, audio or tensor");
  input.add("--size", kImage, "resize to HEIGHTxWIDTH, or the shorter side to S",
            [](InputContract& image, const std::string& word) {
              const auto [height, width] = size_of(word, "--size");
              (width == 0 ? image.shortest_edge : image.height) = height;
              image.width = width;
            });
  input.add("--resample", kAny,
            "nearest, box, bilinear, hamming, bicubic, lanczos; OpenCV: nearest, bilinear, bicubic, area",
            [](InputContract& image, const std::string& word) { image.resample = word; });
  input.add_name("--resize-backend", kAny, &InputContract::backend, "resize as pillow or as opencv does");
  input.add("--crop", kImage, "cut out the middle: HEIGHTxWIDTH or S",
            [](InputContract& image, const std::string& word) {
              const auto [height, width] = size_of(word, "--crop");
              image.crop_height = height;
              image.crop_width = width == 0 ? height : width;
            });
  input.add_name("--crop-rule", kAny, &InputContract::crop_rule,
                 "where the middle is: torchvision or huggingface");
  input.add_name("--color", kImage, &InputContract::color_order, "rgb, bgr or grey");
  input.add_name(
      "--layout", kImage, &InputContract::layout,
      "layout of the model's input: nchw (channels first) or nhwc; images and uint8 arrays of data "
      "are height, width, channels");
  input.add("--rescale", kAny, "multiply by this, such as 1/255",
            [](InputContract& any, const std::string& word) {
              any.rescale_factor = fraction_of(word, "--rescale");
            });
  input
      .add("--mean", kAny, "then subtract: one number, or one for each channel, with commas",
           [](InputContract& any, const std::string& word) { any.mean = numbers_of(word, "--mean"); })
      ->joined("NUMBER");
  input
      .add("--std", kAny, "then divide by: one number, or one for each channel, with commas",
           [](InputContract& any, const std::string& word) { any.deviation = numbers_of(word, "--std"); })
      ->joined("NUMBER");
  input.add_count("--rate", kAudio, &InputContract::sampling_rate, 10'000'000,
                  "samples a second that sound must have");
  input.add_count("--length", kAudio, &InputContract::length, kMostSamples,
                  "samples that the model takes: longer sound is cut, shorter filled up");
  input.add_count("--frame", kAudio, &InputContract::frame_length, kMostSamples,
                  "cut sound into frames of so many samples, each a run of the model");
  input.add_count("--hop", kAny, &InputContract::hop_length, kMostSamples,
                  "a frame every so many samples; what it is longer lies before (default: --frame)");
}

void add_data_options(Options& options, DataOptions& data, bool with_contract,
                      const std::string& without_data) {
  const Heading heading(options, "Data");
  options.add_list("--data",
                   "a .npz, .npy, .csv, .jsonl, .wav or raw .bin file, or a folder of images, sound or test "
                   "data; or NAME=PATH for one input (repeatable; " +
                       without_data + ")",
                   [&data](const std::string& word) {
                     if (word.empty() || word.ends_with('='))
                       throw Error(
                           ErrorCode::kUsage,
                           fmt::format("`--data` '{}' names no file; leave it out for random inputs", word));
                     // A file whose name has an equals sign is a file all the same.
                     if (word.find('=') != word.npos && !std::filesystem::exists(word)) {
                       const auto [name, path] = split_pair(word, "--data");
                       data.paths[name] = path;
                     } else if (data.path.empty()) {
                       data.path = word;
                     } else {
                       throw Error(ErrorCode::kUsage, "several `--data` need names: `--data` INPUT=PATH");
                     }
                   });
  options.add_list("--input", "INPUT=FIELD: which array or column feeds an input (repeatable)",
                   [&data](const std::string& word) { data.fields.insert(split_pair(word, "--input")); });
  options.add_list("--set", "INPUT=NUMBER: an input that is always the same (repeatable)",
                   [&data](const std::string& word) {
                     const auto [name, value] = split_pair(word, "--set");
                     data.constants[name] = fraction_of(value, "--set");
                   });
  options.add_list("--carry",
                   "INPUT=OUTPUT: a state; it starts at zero and gets what the output gave (repeatable)",
                   [&data](const std::string& word) { data.carry.insert(split_pair(word, "--carry")); });
  options.add_option("--labels", data.labels,
                     "the array or column with the labels; 'folder' for folders of images");
  options.add_option("--first", data.first, "begin with this sample")->check(whole_number());
  options.add_option("--samples", data.samples, "so many samples (0: all)")->check(whole_number());
  options.add_text(
      "--part", "I/N: of these every N-th sample, beginning with the I-th: 1/2 and 2/2 have none in common",
      [&data](const std::string& word) { std::tie(data.part, data.parts) = part_of(word, "--part"); });
  options.add_list(
      "--shape", "NAME=LENGTH: length of a dynamic axis of random inputs, or INPUT:AXIS=LENGTH (repeatable)",
      [&data](const std::string& word) {
        const auto [name, value] = split_pair(word, "--shape");
        data.shape[name] = whole_of(value, "--shape");
      });
  options.add_option("--seed", data.seed, "seed of random inputs")->check(whole_number())->show_default();
  if (with_contract) add_contract_options(options, data.contract, "--contract");
}

void add_batch_option(Options& options, DataOptions& data) {
  options.add_option("--batch", data.batch, "samples in one run")
      ->check(whole_between(1, 1'000'000))
      ->show_default();
}

void use_given(DataOptions& data, const InMemoryInputs& given) {
  data.memory = given.data;
  if (data.memory && !data.path.empty())
    throw Error(ErrorCode::kUsage, "there is data in memory and `--data`: leave one out");
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
  return fmt::format("Metric that decides: {}. Default: by --task, or by the labels", fmt::join(all, ", "));
}

std::string metrics_of(MetricUnit unit) {
  std::vector<std::string_view> names;
  for (const MetricDescription& metric : known_metrics()) {
    if (metric.unit == unit) names.push_back(metric.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The first metric may have no name, and lose a share of 20 % at most; what has a name has its own unit.
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
    options.add_option("--abs-tol", gates.max_abs_diff, "largest difference of any value, such as 0.04")
        ->check(number_between(0, 1e300));
    options
        .add_option("--mean-tol", gates.mean_abs_diff, "largest mean difference of an output, such as 0.01")
        ->check(number_between(0, 1e300));
    options
        .add_option("--max-mse", gates.max_mse, "largest mean squared difference of an output, such as 1e-4")
        ->check(number_between(0, 1e300));
    options
        .add_option("--min-sqnr", gates.min_sqnr, "least signal to noise of an output and its slices in dB")
        ->check(number_between(-1000, 1000));
    options.add_converted(
        "--min-agreement", gates.min_agreement, share_up_to(1),
        "least share of same answers, such as 99%: top-1 classes, and outputs that are labels");
    options.add_converted("--max-flips", gates.max_flips, share_up_to(1),
                          "largest share of decisions that change at --threshold, such as 0.5%");
    options.add_list(
        "--max-drop",
        fmt::format("what the metric may lose, such as 0.5%: points of {}; relative for {}; or NAME=0.5% for "
                    "one of several (repeatable)",
                    metrics_of(MetricUnit::kShare), metrics_of(MetricUnit::kRelative)),
        [&gates](const std::string& word) { read_drop(word, gates); });
    options.add_converted(
        "--confidence", gates.confidence, confidence_of,
        "how sure it must be that the gates hold on other data like this: 90%, 95% …; none goes by these "
        "samples alone (default: " +
            usual + ")");
  }
  add_metric_options(options, quality);
}

void add_metric_command_options(Options& options, MetricCommand& command, const std::string& help) {
  options.add_option("--metric-command", command.command, help);
  options.add_option("--metric-seconds", command.seconds, "that it may take")
      ->check(number_between(0.1, 1e6))
      ->show_default();
}

void add_metric_options(Options& options, QualityOptions& quality) {
  options
      .add_option("--task", quality.task,
                  "what the model is for: classify, detect, embed, ctc, segment, tag, audio or regress; "
                  "without labels the original's outputs are the truth")
      ->show_default();
  add_metric_command_options(
      options, quality.metric_command,
      "a program of your own that prints a number, run with the folder of both models' outputs: 'python3 "
      "score.py'");
  options.add_option("--metric", quality.metric, metric_help())
      ->check(any_of(metric_names()))
      ->show_default();
  options
      .add_text("--tags",
                "names of the classes of --task tag, with commas: O,B-PER,I-PER (default: O, then B and I in "
                "turn)",
                [&quality](const std::string& word) { quality.tags = split_commas(word); })
      ->joined("NAME");
  options.add_option("--label-output", quality.label_output,
                     "the output that labels speak of (default: the first)");
  options
      .add_option("--outputs", quality.outputs,
                  "judge these outputs only (repeatable, or with commas); the others are compared and "
                  "reported. Example: --outputs probabilities")
      ->delimiter(',')
      ->one_at_a_time();
  options
      .add_option("--threshold", quality.threshold,
                  "decision threshold of an output: count decisions that change (two columns of "
                  "probabilities are one decision); with --task detect, the least score of a box")
      ->check(number_between(-1e300, 1e300));
}

void use_given(MetricCommand& command, const InMemoryInputs& given) {
  if (given.metric && !command.command.empty())
    throw Error(ErrorCode::kUsage, "there is a metric function and `--metric-command`: leave one out");
  command.function = given.metric;
}

void add_isolation_options(Options& options, std::optional<Isolation>& isolation) {
  const Heading heading(options, "Runtime");
  constexpr double kGigabyte = 1024.0 * 1024 * 1024;
  options.add_flag(
      "--isolate,!--no-isolate", "run models in a process of their own, with limits (the default)",
      [&isolation](bool is_on) { isolation = is_on ? std::optional(Isolation()) : std::nullopt; });
  const auto add_limit = [&](const char* name, double usual, double most, const char* help, auto set) {
    options
        .add_text(name, help,
                  [&isolation, name, set](const std::string& word) {
                    if (isolation) set(*isolation, fraction_of(word, name));
                  })
        ->type_name(type_of(usual))
        ->check(number_between(0, most))
        ->show_default(text_of(usual));
  };
  add_limit("--isolate-memory", 0, 1e6, "its address space in GiB (0: as much as the machine has)",
            [](Isolation& process, double gigabytes) {
              process.memory = static_cast<std::uint64_t>(gigabytes * kGigabyte);
            });
  add_limit("--isolate-seconds", Isolation{}.seconds, 1e9,
            "its time for loading and for each run (0: no limit)",
            [](Isolation& process, double seconds) { process.seconds = seconds; });
}

void add_runtime_options(Options& options, RuntimeOptions& runtime) {
  const Heading heading(options, "Runtime");
  options.add_option("--runtime", runtime.library,
                     "ONNX Runtime: a library's path, or a version (default: the newest)");
  options.add_option("--litert", runtime.litert,
                     "LiteRT, which runs .tflite models, in the same way (default: the newest)");
  options
      .add_option("-x,--threads", runtime.threads, "threads inside an op (0: as many as the runtime likes)")
      ->check(whole_between(0, 1024))
      ->show_default();
  options.add_option("-y,--threads-between", runtime.threads_between, "threads for ops side by side")
      ->check(whole_between(1, 1024))
      ->show_default();
  options
      .add_option("--optimization", runtime.optimization, "graph optimization: none, basic, extended, all")
      ->show_default();
  options.add_list(
      "--session-config", "a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (repeatable)",
      [&runtime](const std::string& word) { runtime.config.insert(split_pair(word, "--session-config")); });
  add_isolation_options(options, runtime.isolate);
}

void add_remote_options(Options& options, Remote& remote) {
  const Heading heading(options, "Elsewhere");
  options.add_option("--via", remote.via,
                     "run models on another machine: the command that runs a shell command there, such as "
                     "'ssh board' or 'adb shell'");
  options.add_option("--launcher", remote.launcher,
                     "what starts the runner (there): 'qemu-aarch64 -L /usr/aarch64-linux-gnu'");
  options.add_option(
      "--runner", remote.runner,
      "the runner for that machine, a file here (default: ounce-runner or ounce-runner-arm64)");
  options.add_option("--runtime-there", remote.library,
                     "ONNX Runtime for that machine: a library here, or a version (default: the newest)");
  options.add_option("--folder-there", remote.folder,
                     "where the runner, the library and models go (default: a folder of ours in /tmp)");
  options.add_flag("--keep-there", remote.keep, "leave models there, so that they are not sent again");
  options.add_option("--seconds-there", remote.seconds, "time for each answer, and for sending each file")
      ->check(number_between(0.1, 1e6))
      ->show_default();
}

std::optional<Remote> remote_of(const Remote& remote) {
  if (!remote.via.empty() || !remote.launcher.empty() || !remote.runner.empty()) return remote;
  if (remote.library.empty() && remote.folder.empty() && !remote.keep) return std::nullopt;
  throw Error(ErrorCode::kUsage, "there is no machine: `--via` or `--launcher` says where models run");
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
                  fmt::format("`--on` '{}' is no CPU that models can be run on: there are {}", name,
                              fmt::join(known, ", ")));
  }
  return cpus;
}

std::string usual_cpus() {
  const char* const usual = std::getenv("OUNCE_ON");
  return usual == nullptr || *usual == '\0' ? "auto" : usual;
}

}  // namespace ounce::verbs
