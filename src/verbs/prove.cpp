#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/prove.h>

#include <algorithm>
#include <memory>

#include "report/reports.h"
#include "verbs/data_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace prove_verb {

constexpr int kRefutedExit = 1, kUnprovedExit = 5;

struct Arguments {
  std::vector<std::string> models;
  std::string source, ranges, metric_command;
  double metric_seconds = MetricCommand{}.seconds;
  RuntimeArguments runtime;
  DataArguments data;
  bool json = false;
};

ProveOptions options_of(const Arguments& arguments, const InMemoryInputs& given) {
  ProveOptions options;
  if (!arguments.source.empty()) options.source = one_model(arguments.source);
  options.ranges = arguments.ranges;
  options.metric_command = {arguments.metric_command, arguments.metric_seconds, given.metric};
  options.runtime = runtime_options_of(arguments.runtime);
  options.data = data_options_of(arguments.data, given);
  return options;
}

int exit_code_of(ProofVerdict verdict) {
  switch (verdict) {
    case ProofVerdict::kProved: return 0;
    case ProofVerdict::kUnproved: return kUnprovedExit;
    case ProofVerdict::kRefuted: break;
  }
  return kRefutedExit;
}

// An error is worse than a model that is refuted, and that is worse than one that is unproved.
int worst_of(const std::vector<report::ProveRow>& rows) {
  const auto rank = [](int code) { return code == kUnprovedExit ? 1 : code == 0 ? 0 : 1 + code; };
  int worst = 0;
  for (const report::ProveRow& row : rows) worst = rank(row.exit_code) > rank(worst) ? row.exit_code : worst;
  return worst;
}

int run(const Arguments& arguments, Host& host, const Options& verb) {
  ProveOptions options = options_of(arguments, host.given);
  const Stream human = for_people(arguments.json);
  const auto [rows, ignored] = each_model<report::ProveRow>(
      find_models(arguments.models), verb, options, host,
      [&](report::ProveRow& row) {
        row.result = prove(row.model, options);
        row.exit_code = exit_code_of(row.result.verdict());
      },
      [&](const report::ProveRow& row, bool) { host.say(human, report::prove_text(row.result)); });
  if (rows.size() > 1) host.say(human, fmt::format("\n{}", report::prove_table(rows)));
  if (arguments.json) print_document(results::Document("prove").add(rows), verb, host);
  return worst_of(rows);
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.models, "models that Ounce wrote, or folders of models")->required();
  options.add_option("--source", arguments.source,
                     "the original: the model is made again from it, and its gate is tried again");
  options.add_option("--ranges", arguments.ranges,
                     "what it was made with, if it was made with a file of ranges");
  options.add_option("--metric-command", arguments.metric_command,
                     "what it was judged by, if it was judged by a program of your own");
  options.add_option("--metric-seconds", arguments.metric_seconds, "that it may take")
      ->check(number_between(0.1, 1e6))
      ->show_default();
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
  add_data_options(options, arguments.data);
  add_runtime_options(options, arguments.runtime);
}

constexpr std::string_view kEveryday[] = {"--source", "--data", "--json"};
constexpr std::string_view kExamples[] = {"ounce prove model.w8.onnx",
                                          "ounce prove model.w8.onnx --source model.onnx"};

}  // namespace prove_verb

extern constinit const VerbInfo kProve = {
    .name = "prove",
    .summary = "check the provenance record of a model: proved, unproved or refuted (exit 0, 5, 1)",
    .everyday = prove_verb::kEveryday,
    .examples = prove_verb::kExamples,
    .call = call_of<prove_verb::Arguments, prove_verb::declare, prove_verb::run>,
    .result = "ProveResult",
};

}  // namespace ounce::verbs
