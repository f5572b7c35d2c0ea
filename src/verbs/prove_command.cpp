#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/prove.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <memory>

#include "report/json.h"
#include "report/prove_report.h"
#include "verbs/command.h"
#include "verbs/data_options.h"
#include "verbs/each_model.h"
#include "verbs/model_list.h"
#include "verbs/recipe_options.h"
#include "verbs/runtime_options.h"

namespace ounce::verbs {
namespace prove_verb {

constexpr int kGateExit = 1;

struct Arguments {
  std::vector<std::string> models;
  std::string source, ranges, metric_command;
  double metric_seconds = MetricCommand{}.seconds;
  RuntimeArguments runtime;
  DataArguments data;
  bool json = false;
};

ProveOptions options_of(const Arguments& arguments, const Given& given) {
  ProveOptions options;
  if (!arguments.source.empty()) options.source = one_model(arguments.source);
  options.ranges = arguments.ranges;
  options.metric_command = {arguments.metric_command, arguments.metric_seconds, given.metric};
  options.runtime = runtime_options_of(arguments.runtime);
  options.data = data_options_of(arguments.data, given);
  return options;
}

int run(const Arguments& arguments, Host& host, const CLI::App& app) {
  ProveOptions options = options_of(arguments, host.given);
  const Stream human = for_people(arguments.json);
  const auto [rows, worst] = each_model<report::ProveRow>(
      find_models(arguments.models), app, options, host,
      [&](report::ProveRow& row) {
        row.proof = prove(row.model, options);
        if (!row.proof.holds()) row.exit_code = kGateExit;
      },
      [&](const report::ProveRow& row, bool) { host.say(human, report::prove_text(row.proof)); });
  if (rows.size() > 1) host.say(human, fmt::format("\n{}", report::prove_table(rows)));
  if (arguments.json) host.say_json(report::dump(report::prove_json(rows)));
  return worst;
}

}  // namespace prove_verb

Command add_prove(CLI::App& parser) {
  using namespace prove_verb;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app = parser.add_subcommand(
      "prove", "show the statement that a model carries, and replay it; exit 1 if it does not hold");
  app->add_option("model", arguments->models, "models that Ounce wrote, or folders of models")->required();
  app->add_option("--source", arguments->source,
                  "the original: the model is made again from it, and its gate is tried again");
  app->add_option("--ranges", arguments->ranges,
                  "what it was made with, if it was made with a file of ranges");
  app->add_option("--metric-command", arguments->metric_command,
                  "what it was judged by, if it was judged by a program of your own");
  app->add_option("--metric-seconds", arguments->metric_seconds, "that it may take")
      ->check(number_between(0.1, 1e6))
      ->capture_default_str();
  app->add_flag("--json", arguments->json, "print one JSON document on stdout");
  add_data_options(*app, arguments->data);
  add_runtime_options(*app, arguments->runtime);
  return {app, [arguments, app](Host& host) { return run(*arguments, host, *app); }};
}

}  // namespace ounce::verbs
