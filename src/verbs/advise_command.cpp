#include <fmt/format.h>
#include <ounce/advise.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "report/advise_report.h"
#include "report/json.h"
#include "verbs/command.h"
#include "verbs/command_line.h"
#include "verbs/data_options.h"
#include "verbs/each_model.h"
#include "verbs/gate_options.h"
#include "verbs/model_list.h"
#include "verbs/recipe_options.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"

namespace ounce::verbs {
namespace advise_verb {

struct Arguments {
  std::vector<std::string> models;
  RuntimeArguments runtime;
  DataArguments data;
  GateArguments quality;
  std::string target, budget = "60s", max_drop = "0.5%", report;
  std::optional<double> min_sqnr;
  bool json = false;
};

// The words by which this command line says what the data is, for the commands that are recommended. What is
// in memory has to be put into a file for them.
std::vector<std::string> data_words(const CLI::App& app, const Given& given) {
  std::vector<std::string> words;
  if (given.data) words = {"--data", "DATA"};
  for (const CLI::Option* option : app.get_options()) {
    const std::string& group = option->get_group();
    if (option->count() == 0 || (group != "Data" && !group.starts_with("How raw data"))) continue;
    for (const std::string& value : option->results()) {
      words.push_back(option->get_name());
      words.push_back(value);
    }
  }
  return words;
}

AdviseOptions options_of(const Arguments& arguments, Host& host, const CLI::App& app) {
  AdviseOptions options;
  options.runtime = runtime_options_of(arguments.runtime);
  options.data = data_options_of(arguments.data, host.given);
  options.target = arguments.target;
  options.budget = duration_of(arguments.budget, "--budget");
  set_quality(arguments.quality, host.given, options);
  options.max_drop = share_of(arguments.max_drop, "--max-drop", 0.2);
  options.min_sqnr = arguments.min_sqnr;
  options.data_words = data_words(app, host.given);
  return options;
}

int run(const Arguments& arguments, Host& host, const CLI::App& app) {
  const ReportFile page(app, arguments.report);
  AdviseOptions options = options_of(arguments, host, app);
  const Stream human = for_people(arguments.json);
  std::vector<std::string> notes;
  const std::vector<ModelFile> models = find_originals(arguments.models, notes);
  for (const std::string& note : notes) host.say(Stream::kMessages, plainly("note: {}\n", note));
  const auto [rows, worst] = each_model<report::AdviseRow>(
      models, app, options, host, [&](report::AdviseRow& row) { row.result = advise(row.model, options); },
      [&](const report::AdviseRow& row, bool is_first) {
        host.say(human, (is_first ? "" : "\n") + report::advise_text(row.result));
      });
  if (rows.size() > 1) host.say(human, fmt::format("\n{}", report::advise_table(rows)));
  page.deliver(report::advise_json(rows), arguments.json, host);
  return worst;
}

}  // namespace advise_verb

Command add_advise(CLI::App& parser) {
  using namespace advise_verb;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app = parser.add_subcommand(
      "advise", "should this model be quantized, how, and what will it bring? measured on it");
  app->add_option("model", arguments->models, "models, or folders of models")->required();
  app->add_option("--budget", arguments->budget, "time for each model, such as 90s or 5m")
      ->capture_default_str();
  app->add_option(
      "--target", arguments->target,
      "where it will run: a place and a release such as android-arm64@1.22.0, a provider such as cuda");
  add_metric_options(*app, arguments->quality);
  app->add_option("--max-drop", arguments->max_drop, "what the metric may lose, such as 0.5%")
      ->capture_default_str();
  app->add_option(
         "--min-sqnr", arguments->min_sqnr,
         "least signal to noise of an output in dB (default: without labels 20, of generated sound 30)")
      ->check(number_between(-1000, 1000));
  app->add_flag("--json", arguments->json, "print one JSON document on stdout");
  add_report_option(*app, arguments->report);
  add_data_options(*app, arguments->data);
  add_runtime_options(*app, arguments->runtime);
  return {app, [arguments, app](Host& host) { return run(*arguments, host, *app); }};
}

}  // namespace ounce::verbs
