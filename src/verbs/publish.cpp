#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/publish.h>

#include <memory>

#include "report/reports.h"
#include "verbs/data_options.h"
#include "verbs/gate_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace publish_verb {

constexpr int kGateExit = 1;

struct Arguments {
  std::string input, output, layout = name_of(Layout::kHuggingFace), target, external_data = "auto";
  std::vector<std::string> variants;
  RuntimeArguments runtime;
  DataArguments data;
  GateArguments gates;
  double seconds = PublishOptions{}.bench_seconds;
  std::string on = usual_cpus();
  bool edge_cases = true, bench = true, replace = false, json = false;
};

PublishOptions options_of(const Arguments& arguments, const InMemoryInputs& given) {
  PublishOptions options;
  options.layout = value_of<Layout>(arguments.layout);
  options.variants = arguments.variants;
  options.verify.runtime = runtime_options_of(arguments.runtime);
  options.verify.data = data_options_of(arguments.data, given);
  set_quality(arguments.gates, given, options.verify);
  options.verify.gates = gates_of(arguments.gates);
  options.verify.edge_cases = arguments.edge_cases;
  options.verify.cpus = cpus_of(arguments.on);
  options.bench_seconds = arguments.bench ? arguments.seconds : 0;
  options.target = arguments.target;
  options.external_data = value_of<ExternalData>(arguments.external_data);
  options.replace = arguments.replace;
  return options;
}

// 1 when a variant failed its gate, 3 when one cannot be made; the worst wins.
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

int run(const Arguments& arguments, Host& host, const Options& verb) {
  const OwnFiles own = OwnFiles::of(verb, arguments.data.contract.file);
  PublishOptions options = options_of(arguments, host.given);
  own.require_apart(arguments.output);
  const Stream human = for_people(arguments.json);
  const PublishResult result = named(std::filesystem::path(arguments.input), [&] {
    const std::unique_ptr<Watch> watch = host.watch(arguments.input);
    options.progress = &watch->progress;
    return publish(arguments.input, arguments.output, options);
  });
  const int code = exit_code_of(result);
  host.say(human, report::publish_text(result));
  if (arguments.json) print_document(results::Document("publish").add(result), verb, host);
  return code;
}

void declare(Options& options, Arguments& arguments) {
  options
      .add_option("model", arguments.input,
                  "a model, or a folder with models, their configuration and tokenizer")
      ->required();
  options.add_option("-o,--output", arguments.output, "the folder to write; appears whole or not at all")
      ->required();
  options
      .add_option(
          "--layout", arguments.layout,
          "huggingface (onnx/model_q4.onnx, for transformers.js and optimum), genai (q4/model.onnx), plain "
          "(model.q4.onnx)")
      ->check(any_name_of<Layout>())
      ->show_default();
  options
      .add_option("--variants", arguments.variants,
                  fmt::format("with commas: {} (default: {})", fmt::join(variant_names(), ", "),
                              fmt::join(usual_variants(), ",")))
      ->delimiter(',')
      ->one_at_a_time()
      ->check(any_of(variant_names()));
  options.add_option("--target", arguments.target, "where they will run, as in quantize");
  options
      .add_option("--external-data", arguments.external_data,
                  "weights in files of their own: auto (above 2 GiB), always, never")
      ->check(any_name_of<ExternalData>())
      ->show_default();
  options.add_flag("--replace", arguments.replace, "a folder that stands there goes, in one step");
  options.add_flag("--bench,!--no-bench", arguments.bench,
                   "measure speed and memory for the model card (default: on)");
  options.add_option("--seconds", arguments.seconds, "to time each model")
      ->check(number_between(0.01, 1e6))
      ->show_default();
  add_gate_options(
      options, arguments.gates,
      "Gates of every variant (without any: 20 dB for every output; with --labels 1 point of the metric)",
      "none");
  options.add_flag("--edge-cases,!--no-edge-cases", arguments.edge_cases,
                   "also try zeros, extremes, noise, batches and lengths (default: on)");
  add_cpu_option(
      options, arguments.on,
      "other CPUs to run what computes on integers on before it is written: avx2, avx512, arm64; none; "
      "auto for all that can be shown here (default: auto)");
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
  // Its flags are left out: --layout is another one here.
  add_data_options(options, arguments.data, false);
  options.add_option("--contract", arguments.data.contract.file,
                     "how raw data becomes the input, instead of the contract in the model");
  add_runtime_options(options, arguments.runtime);
}

constexpr std::string_view kEveryday[] = {"--output", "--layout",   "--variants", "--data",
                                          "--labels", "--max-drop", "--json"};
constexpr std::string_view kExamples[] = {"ounce publish model.onnx -o published/"};

}  // namespace publish_verb

extern constinit const VerbInfo kPublish = {
    .name = "publish",
    .summary = "write every variant of a model that people expect, with configuration and a model card",
    .everyday = publish_verb::kEveryday,
    .examples = publish_verb::kExamples,
    .call = call_of<publish_verb::Arguments, publish_verb::declare, publish_verb::run>,
    .result = "PublishResult",
};

}  // namespace ounce::verbs
