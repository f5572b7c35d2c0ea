#include <fmt/format.h>
#include <ounce/bench.h>
#include <ounce/error.h>
#include <ounce/verify.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "report/reports.h"
#include "verbs/class_names.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace verify_verb {

constexpr int kGateExit = 1;

struct Arguments {
  std::string reference;
  std::vector<std::string> candidates;
  VerifyOptions options;
  Remote remote;
  std::uint64_t tokens = 0, prompt = DecodeOptions{}.prompt;
  std::string on = "none", report, class_names;
  bool json = false, require_data = false;
};

// Rejects options that apply to single calls only.
void refuse_beside_tokens(const Options& verb) {
  for (const char* name :
       {"--worst",          "--on",       "--batch",       "--report",  "--junit",     "--markdown",
        "--baseline",       "--pictures", "--class-names", "--labels",  "--task",      "--metric",
        "--abs-tol",        "--mean-tol", "--min-sqnr",    "--max-mse", "--threshold", "--confidence",
        "--metric-command", "--outputs",  "--gate"}) {
    if (verb.has(name))
      throw Error(ErrorCode::kUsage,
                  fmt::format("`{}` cannot be combined with `--tokens`: leave one out", name));
  }
}

// --tokens: compares changed tokens and the negative log-likelihood of texts instead of single calls.
int run_decoders(const Arguments& arguments, Host& host, const Options& verb) {
  const Gates& gates = arguments.options.gates;
  if (!gates.max_drops.empty())
    throw Error(ErrorCode::kUsage,
                "`--tokens` has only the metric nll: give `--max-drop` a number without a name");
  DecodeOptions options;
  options.runtime = arguments.options.runtime;
  options.data = arguments.options.data;
  options.prompt = arguments.prompt;
  options.tokens = arguments.tokens;
  options.max_flips = gates.max_flips;
  if (gates.min_agreement) options.max_flips = 1 - *gates.min_agreement;
  options.max_nll_rise = gates.max_drop;
  if (!options.max_flips && !options.max_nll_rise) options.max_nll_rise = kDefaultDrop;
  std::vector<std::filesystem::path> models = {arguments.reference};
  for (const ModelFile& model : find_models(arguments.candidates)) models.push_back(model.path);
  const DecodeReport report = named(models, [&] {
    const std::unique_ptr<Watch> watch = host.watch(arguments.reference);
    options.progress = &watch->progress;
    return decode(models, options);
  });
  host.say(for_people(arguments.json), report::decode_text(report));
  deliver(results::Document("verify").add(report), arguments.json, verb, host);
  const bool passed =
      std::all_of(report.models.begin(), report.models.end(), [](const auto& model) { return model.passed; });
  return passed ? 0 : kGateExit;
}

int run(Arguments& arguments, Host& host, const Options& verb) {
  if (arguments.tokens != 0) refuse_beside_tokens(verb);
  const ReportFile page(verb, arguments.report);
  arguments.reference = one_model(arguments.reference).string();
  VerifyOptions& options = arguments.options;
  options.runtime.remote = remote_of(arguments.remote);
  use_given(options.data, host.given);
  use_given(options.metric_command, host.given);
  options.cpus = cpus_of(arguments.on);
  if (arguments.require_data && options.data.is_generated())
    throw Error(
        ErrorCode::kUsage,
        "`--require-data`: a comparison on random inputs is a smoke test; give samples with `--data`");
  if (arguments.tokens != 0) return run_decoders(arguments, host, verb);
  const std::vector<ModelFile> candidates = find_models(arguments.candidates);
  if (candidates.size() > 1) options.reference_outputs = keep_reference_outputs();
  options.pictures |= page.is_wanted();
  options.class_names = read_class_names(arguments.class_names);
  const Stream human = for_people(arguments.json);
  const auto [rows, worst] = each_model<report::VerifyRow>(
      candidates, verb, options, host,
      [&](report::VerifyRow& row) {
        row.result = verify(arguments.reference, row.model, options);
        if (!row.result.passed) row.exit_code = kGateExit;
      },
      [&](const report::VerifyRow& row, bool) { host.say(human, report::verify_text(row.result)); });
  if (rows.size() > 1) host.say(human, fmt::format("\n{}", report::verify_table(rows)));
  return page.deliver(results::Document("verify").add(rows), arguments.json, host, worst);
}

void declare(Options& options, Arguments& arguments) {
  VerifyOptions& comparison = arguments.options;
  options.add_option("reference", arguments.reference, "The original model")->required();
  options
      .add_option("candidate", arguments.candidates,
                  "Models to compare with the original, or folders of models")
      ->required();
  add_gate_options(
      options, comparison.gates, comparison,
      "Thresholds (default: 20 dB for every output, 99 % equal labels; with --labels 1 point of the metric)",
      "none");
  add_gate_set_option(options, comparison.gates);
  options.add_flag("--edge-cases,!--no-edge-cases", comparison.edge_cases,
                   "Also compare edge cases: zeros, extremes, noise, batch sizes and lengths (default: on)");
  options.add_option("--worst", comparison.worst, "List this many samples with the largest differences")
      ->show_default();
  add_cpu_option(options, arguments.on,
                 "Also run the candidate on these CPUs, and fail if its outputs differ: avx2, avx512 (x64 "
                 "without VNNI), arm64, none, or auto for all that this machine can emulate (default: none)");
  add_batch_option(options, comparison.data);
  Option* const tokens =
      options
          .add_option(
              "--tokens", arguments.tokens,
              "Compare language models: feed texts (rows of token ids) token by token, this many "
              "tokens after the prompt; --max-flips limits changed tokens, --max-drop limits the rise "
              "of the negative log-likelihood")
          ->check(whole_between(1, 1'000'000));
  options.add_option("--prompt", arguments.prompt, "Set the length of the prompt of --tokens, in tokens")
      ->needs(tokens)
      ->check(whole_between(1, 1'000'000))
      ->show_default();
  add_document_options(options, arguments.json, arguments.report);
  add_baseline_options(options, "1%");
  options.add_flag("--require-data", arguments.require_data,
                   "Fail without --data: a comparison on random inputs is only a smoke test");
  options.add_flag(
      "--pictures", comparison.pictures,
      "Add the samples that differ most to the --json document, as small images or waveforms, for "
      "'ounce report' (default: off; on with --report)");
  add_class_names_option(options, arguments.class_names);
  add_data_options(options, comparison.data);
  add_runtime_options(options, comparison.runtime);
  add_remote_options(options, arguments.remote);
}

constexpr std::string_view kEveryday[] = {"--data",     "--preprocess", "--labels",        "--task",
                                          "--max-drop", "--min-sqnr",   "--min-agreement", "--confidence",
                                          "--worst",    "--on",         "--json",          "--report"};
constexpr std::string_view kExamples[] = {
    "ounce verify model.onnx model.w8.onnx --data val.npz --labels label --max-drop 1%",
    "ounce verify model.onnx model.w8.onnx --report verify.html"};

}  // namespace verify_verb

extern constinit const VerbInfo kVerify = {
    .name = "verify",
    .summary = "Compare a quantized model with the original (exit code 1: a threshold is exceeded)",
    .audience = Audience::kEveryday,
    .everyday = verify_verb::kEveryday,
    .examples = verify_verb::kExamples,
    .call = call_of<verify_verb::Arguments, verify_verb::declare, verify_verb::run>,
    .result = "VerifyResult",
};

}  // namespace ounce::verbs
