#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/verify.h>

#include <algorithm>
#include <memory>

#include "report/reports.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace prove_verb {

constexpr int kRefutedExit = 1, kUnprovedExit = 5;

struct Arguments {
  std::vector<std::string> models;
  ProveOptions options;
  bool json = false;
};

int exit_code_of(ProofVerdict verdict) {
  switch (verdict) {
    case ProofVerdict::kProved: return 0;
    case ProofVerdict::kUnproved: return kUnprovedExit;
    case ProofVerdict::kRefuted: break;
  }
  return kRefutedExit;
}

// Ranks an error above a refuted model, and that above an unproved one.
int worst_of(const std::vector<report::ProveRow>& rows) {
  const auto rank = [](int code) { return code == kUnprovedExit ? 1 : code == 0 ? 0 : 1 + code; };
  int worst = 0;
  for (const report::ProveRow& row : rows) worst = rank(row.exit_code) > rank(worst) ? row.exit_code : worst;
  return worst;
}

int run(Arguments& arguments, Host& host, const Options& verb) {
  ProveOptions& options = arguments.options;
  if (!options.source.empty()) options.source = one_model(options.source.string());
  options.metric_command.function = host.given.metric;
  use_given(options.data, host.given);
  const Stream human = for_people(arguments.json);
  const auto [rows, ignored] = each_model<report::ProveRow>(
      find_models(arguments.models), verb, options, host,
      [&](report::ProveRow& row) {
        row.result = prove(row.model, options);
        row.exit_code = exit_code_of(row.result.verdict());
      },
      [&](const report::ProveRow& row, bool) { host.say(human, report::prove_text(row.result)); });
  if (rows.size() > 1) host.say(human, fmt::format("\n{}", report::prove_table(rows)));
  deliver(results::Document("prove").add(rows), arguments.json, verb, host);
  return worst_of(rows);
}

void declare(Options& options, Arguments& arguments) {
  ProveOptions& proving = arguments.options;
  options.add_option("model", arguments.models, "Models that Ounce wrote, or folders of models")->required();
  options.add_option("--source", proving.source,
                     "Reproduce the model from this original, and repeat its recorded accuracy check");
  options.add_option("--ranges", proving.ranges,
                     "Reproduce the model with these activation ranges, if it was quantized with --ranges");
  add_metric_command_options(options, proving.metric_command,
                             "Repeat the accuracy check with this program, if it was made with one");
  add_json_option(options, arguments.json);
  add_data_options(options, proving.data);
  add_runtime_options(options, proving.runtime);
}

constexpr std::string_view kEveryday[] = {"--source", "--data", "--json"};
constexpr std::string_view kExamples[] = {"ounce prove model.w8.onnx",
                                          "ounce prove model.w8.onnx --source model.onnx"};

}  // namespace prove_verb

extern constinit const VerbInfo kProve = {
    .name = "prove",
    .summary = "Check the provenance record of a model (exit code 0: proved, 5: unproved, 1: refuted)",
    .everyday = prove_verb::kEveryday,
    .examples = prove_verb::kExamples,
    .call = call_of<prove_verb::Arguments, prove_verb::declare, prove_verb::run>,
    .result = "ProveResult",
};

}  // namespace ounce::verbs
