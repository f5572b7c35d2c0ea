#include <fmt/format.h>
#include <ounce/advise.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "report/reports.h"
#include "verbs/data_options.h"
#include "verbs/gate_options.h"
#include "verbs/json_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"
#include "verbs/verb.h"

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
std::vector<std::string> data_words(const Options& verb, const InMemoryInputs& given) {
  std::vector<std::string> words;
  if (given.data) words = {"--data", "DATA"};
  for (const Option& option : verb.all()) {
    if (option.heading != "Data" && !option.heading.starts_with("How raw data")) continue;
    for (const std::string& value : option.given) {
      words.push_back(option.name());
      words.push_back(value);
    }
  }
  return words;
}

AdviseOptions options_of(const Arguments& arguments, Host& host, const Options& verb) {
  AdviseOptions options;
  options.runtime = runtime_options_of(arguments.runtime);
  options.data = data_options_of(arguments.data, host.given);
  options.target = arguments.target;
  options.budget = duration_of(arguments.budget, "--budget");
  set_quality(arguments.quality, host.given, options);
  options.max_drop = share_of(arguments.max_drop, "--max-drop", 0.2);
  options.min_sqnr = arguments.min_sqnr;
  options.data_words = data_words(verb, host.given);
  return options;
}

int run(const Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  AdviseOptions options = options_of(arguments, host, verb);
  const Stream human = for_people(arguments.json);
  std::vector<std::string> notes;
  const std::vector<ModelFile> models = find_originals(arguments.models, notes);
  for (const std::string& note : notes) host.say(Stream::kMessages, safe_format("note: {}\n", note));
  const auto [rows, worst] = each_model<report::AdviseRow>(
      models, verb, options, host, [&](report::AdviseRow& row) { row.result = advise(row.model, options); },
      [&](const report::AdviseRow& row, bool is_first) {
        host.say(human, (is_first ? "" : "\n") + report::advise_text(row.result));
      });
  if (rows.size() > 1) host.say(human, fmt::format("\n{}", report::advise_table(rows)));
  page.deliver(results::Document("advise").add(rows), arguments.json, host);
  return worst;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.models, "models, or folders of models")->required();
  options.add_option("--budget", arguments.budget, "time for each model, such as 90s or 5m")->show_default();
  options.add_option(
      "--target", arguments.target,
      "where it will run: a place and a release such as android-arm64@1.22.0, a provider such as cuda");
  add_metric_options(options, arguments.quality);
  options.add_option("--max-drop", arguments.max_drop, "what the metric may lose, such as 0.5%")
      ->show_default();
  options
      .add_option(
          "--min-sqnr", arguments.min_sqnr,
          "least signal to noise of an output in dB (default: without labels 20, of generated sound 30)")
      ->check(number_between(-1000, 1000));
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
  add_report_option(options, arguments.report);
  add_data_options(options, arguments.data);
  add_runtime_options(options, arguments.runtime);
}

constexpr std::string_view kEveryday[] = {"--data",     "--labels", "--budget", "--target",
                                          "--max-drop", "--json",   "--report"};
constexpr std::string_view kExamples[] = {
    "ounce advise model.onnx", "ounce advise model.onnx --data val.npz --labels label --budget 90s"};

}  // namespace advise_verb

extern constinit const VerbInfo kAdvise = {
    .name = "advise",
    .summary = "should this model be quantized, how, and what will it bring? measured on it",
    .audience = Audience::kEveryday,
    .everyday = advise_verb::kEveryday,
    .examples = advise_verb::kExamples,
    .call = call_of<advise_verb::Arguments, advise_verb::declare, advise_verb::run>,
    .result = "AdviseResult",
};

}  // namespace ounce::verbs
