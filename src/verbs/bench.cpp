#include <fmt/format.h>
#include <ounce/bench.h>
#include <ounce/error.h>

#include <cstdio>
#include <memory>

#include "report/reports.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace bench_verb {

struct Arguments {
  std::vector<std::string> models;
  BenchOptions options;
  Remote remote;
  std::uint64_t tokens = 0, prompt = DecodeOptions{}.prompt;
  bool json = false;
  std::string report;
};

// Runs `work` over all models with one progress line.
template <class Request, class Work>
auto watched(const std::vector<std::filesystem::path>& models, Request& options, Host& host,
             const Work& work) {
  const std::unique_ptr<Watch> watch =
      host.watch(fmt::format("{} model{}", models.size(), models.size() == 1 ? "" : "s"));
  options.progress = &watch->progress;
  return named(models, work);
}

// --tokens: generates texts token by token instead of timing single calls.
int run_decoders(const Arguments& arguments, Host& host, const Options& verb,
                 const std::vector<std::filesystem::path>& models) {
  DecodeOptions options;
  options.runtime = arguments.options.runtime;
  options.data = arguments.options.data;
  options.prompt = arguments.prompt;
  options.tokens = arguments.tokens;
  const DecodeReport report = watched(models, options, host, [&] { return decode(models, options); });
  host.say(for_people(arguments.json), report::decode_text(report));
  deliver(results::Document("bench").add(report), arguments.json, verb, host);
  return 0;
}

int run(Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  std::vector<std::filesystem::path> models;
  for (const ModelFile& model : find_models(arguments.models)) {
    require_readable(model, verb);
    models.push_back(model.path);
  }
  BenchOptions& options = arguments.options;
  options.runtime.remote = remote_of(arguments.remote);
  use_given(options.data, host.given);
  if (arguments.tokens != 0) return run_decoders(arguments, host, verb, models);
  const BenchReport report = watched(models, options, host, [&] { return bench(models, options); });
  host.say(for_people(arguments.json), report::bench_text(report));
  return page.deliver(results::Document("bench").add(report), arguments.json, host, 0);
}

void declare(Options& options, Arguments& arguments) {
  options
      .add_option("model", arguments.models, "Models or folders of models; the first model is the baseline")
      ->required();
  // These options apply to single calls only, and exclude --tokens.
  std::vector<Option*> of_calls;
  of_calls.push_back(options
                         .add_option("-t,--seconds", arguments.options.seconds,
                                     "Measure each model and batch size for this many seconds")
                         ->check(number_between(0.01, 86400))
                         ->show_default());
  of_calls.push_back(options
                         .add_option("-r,--repeats", arguments.options.repeats,
                                     "Measure this many calls of each model instead of --seconds")
                         ->check(whole_between(0, 1'000'000'000)));
  of_calls.push_back(options
                         .add_option("-b,--batch", arguments.options.batches,
                                     "Measure these batch sizes, separated by commas. Example: 1,8")
                         ->delimiter(',')
                         ->check(whole_between(1, 1'000'000))
                         ->show_default());
  of_calls.push_back(options
                         .add_option("--cold-starts", arguments.options.cold_starts,
                                     "Start this many processes per model to measure cold start and memory "
                                     "(0: none)")
                         ->check(whole_between(0, 1000))
                         ->show_default());
  Option* const tokens =
      options
          .add_option(
              "--tokens", arguments.tokens,
              "Benchmark a language model: feed texts (rows of token ids) token by token, this many tokens "
              "after the prompt, with the KV cache; report latency, perplexity and changed predictions")
          ->check(whole_between(1, 1'000'000));
  options.add_option("--prompt", arguments.prompt, "Set the length of the prompt of --tokens, in tokens")
      ->needs(tokens)
      ->check(whole_between(1, 1'000'000))
      ->show_default();
  of_calls.push_back(options.add_flag(
      "--profile", arguments.options.profile,
      "Profile each model: time per op, the most expensive nodes, and the share of INT8 kernels"));
  add_document_options(options, arguments.json, arguments.report);
  add_baseline_options(options, "5%");
  for (const char* name : {"--junit", "--markdown", "--baseline"}) of_calls.push_back(options.find(name));
  of_calls.push_back(options.find("--report"));
  for (Option* option : of_calls) tokens->excludes(option);
  add_data_options(options, arguments.options.data);
  add_runtime_options(options, arguments.options.runtime);
  add_remote_options(options, arguments.remote);
}

constexpr std::string_view kEveryday[] = {"--seconds",    "--repeats", "--batch",       "--data",
                                          "--preprocess", "--threads", "--cold-starts", "--profile",
                                          "--tokens",     "--json",    "--report"};
constexpr std::string_view kExamples[] = {"ounce bench model.onnx model.w8.onnx",
                                          "ounce bench gpt.onnx gpt.nbits4.onnx --tokens 64 --data text.npz",
                                          "ounce bench model.onnx model.w8.onnx -b 1,8 --report bench.html"};

}  // namespace bench_verb

extern constinit const VerbInfo kBench = {
    .name = "bench",
    .summary = "Measure latency, memory and cold start of models and compare their speed",
    .audience = Audience::kEveryday,
    .everyday = bench_verb::kEveryday,
    .examples = bench_verb::kExamples,
    .call = call_of<bench_verb::Arguments, bench_verb::declare, bench_verb::run>,
    .result = "BenchResult",
};

}  // namespace ounce::verbs
