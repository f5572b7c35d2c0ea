#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/publish.h>

#include <memory>

#include "report/reports.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace publish_verb {

constexpr int kGateExit = 1;

struct Arguments {
  std::string input, output, on = usual_cpus();
  PublishOptions options;
  bool bench = true, json = false;
};

// Returns the worst code: 1 if a variant fails a threshold, 3 if one cannot be made.
int exit_code_of(const PublishResult& result) {
  int worst = 0;
  for (const PublishedModel& model : result.models) {
    for (const PublishedVariant& variant : model.variants) {
      if (variant.is_written) continue;
      worst = std::max(worst, variant.is_gate_failure ? kGateExit : exit_code(ErrorCode::kUnsupported));
    }
  }
  return worst;
}

int run(Arguments& arguments, Host& host, const Options& verb) {
  PublishOptions& options = arguments.options;
  use_given(options.verify.data, host.given);
  use_given(options.verify.metric_command, host.given);
  options.verify.cpus = cpus_of(arguments.on);
  if (!arguments.bench) options.bench_seconds = 0;
  OwnFiles::of(verb).require_apart(arguments.output);
  const Stream human = for_people(arguments.json);
  const PublishResult result = named(std::filesystem::path(arguments.input), [&] {
    const std::unique_ptr<Watch> watch = host.watch(arguments.input);
    options.progress = &watch->progress;
    return publish(arguments.input, arguments.output, options);
  });
  const int code = exit_code_of(result);
  host.say(human, report::publish_text(result));
  deliver(results::Document("publish").add(result), arguments.json, verb, host);
  return code;
}

void declare(Options& options, Arguments& arguments) {
  PublishOptions& publishing = arguments.options;
  options
      .add_option("model", arguments.input,
                  "A model, or a folder with models, their configuration and tokenizer")
      ->required();
  options.add_option("-o,--output", arguments.output, "Write to this folder, atomically")
      ->type_name("FILE")
      ->required();
  options
      .add_option("--layout", publishing.layout,
                  "Choose the layout of the folder: huggingface (onnx/model_q4.onnx, for transformers.js and "
                  "optimum), genai (q4/model.onnx), plain (model.q4.onnx)")
      ->show_default();
  options
      .add_option("--variants", publishing.variants,
                  fmt::format("Write these variants, separated by commas: {} (default: {})",
                              fmt::join(variant_names(), ", "), fmt::join(usual_variants(), ",")))
      ->delimiter(',')
      ->one_at_a_time()
      ->check(any_of(variant_names()));
  options.add_option("--target", publishing.target,
                     "Use only ops that this target supports. Examples: android-arm64@1.22.0, cuda");
  options
      .add_option("--external-data", publishing.external_data,
                  "Store weights in separate files: auto (above 2 GiB), always, never")
      ->show_default();
  options.add_flag("--replace", publishing.replace, "Replace an existing folder, atomically");
  options.add_flag("--bench,!--no-bench", arguments.bench,
                   "Measure speed and memory for the model card (default: on)");
  options.add_option("--seconds", publishing.bench_seconds, "Measure each model for this many seconds")
      ->check(number_between(0.01, 1e6))
      ->show_default();
  add_gate_options(
      options, publishing.verify.gates, publishing.verify,
      "Thresholds of every variant (default: 20 dB for every output; with --labels 1 point of the metric)",
      "none");
  add_gate_set_option(options, publishing.verify.gates);
  options.add_flag("--edge-cases,!--no-edge-cases", publishing.verify.edge_cases,
                   "Also compare edge cases: zeros, extremes, noise, batch sizes and lengths (default: on)");
  add_cpu_option(options, arguments.on,
                 "Test INT8 variants on these CPUs before writing them: avx2, avx512, arm64, none, or auto "
                 "for all that this machine can emulate (default: auto)");
  add_json_option(options, arguments.json);
  // Without the preprocessing options, because --layout has another meaning here.
  add_data_options(options, publishing.verify.data, false);
  options.add_text(
      "--preprocess", "Read the preprocessing from this file instead of the metadata of the model",
      [&data = publishing.verify.data](const std::string& file) { data.contract = read_contract(file); });
  add_runtime_options(options, publishing.verify.runtime);
}

constexpr std::string_view kEveryday[] = {"--output", "--layout",   "--variants", "--data",
                                          "--labels", "--max-drop", "--json"};
constexpr std::string_view kExamples[] = {"ounce publish model.onnx -o published/"};

}  // namespace publish_verb

extern constinit const VerbInfo kPublish = {
    .name = "publish",
    .summary = "Write the variants that Hugging Face tools expect, with configuration and a model card",
    .everyday = publish_verb::kEveryday,
    .examples = publish_verb::kExamples,
    .call = call_of<publish_verb::Arguments, publish_verb::declare, publish_verb::run>,
    .result = "PublishResult",
};

}  // namespace ounce::verbs
