#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/sensitivity.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "report/json.h"
#include "report/sensitivity_report.h"
#include "verbs/command.h"
#include "verbs/data_options.h"
#include "verbs/each_model.h"
#include "verbs/gate_options.h"
#include "verbs/model_list.h"
#include "verbs/option_kinds.h"
#include "verbs/recipe_options.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"

namespace ounce::verbs {
namespace sensitivity_verb {

struct Arguments {
  std::vector<std::string> models;
  RuntimeArguments runtime;
  DataArguments data;
  bool has_samples = false;
  GateArguments gates;  // only those of metrics
  std::string format = "static", grouping = "layer", cache, report;
  std::uint64_t top = 0;
  double min_sqnr = 30;
  unsigned jobs = 0;
  bool keep = true, json = false;
};

SensitivityOptions options_of(const Arguments& arguments, Host& host) {
  SensitivityOptions options;
  options.format = value_of<Format>(arguments.format);
  options.grouping = value_of<Grouping>(arguments.grouping);
  options.runtime = runtime_options_of(arguments.runtime);
  options.data = data_options_of(arguments.data, host.given);
  options.data.samples = 0;  // calibration takes more of them
  if (arguments.has_samples) options.samples = arguments.data.samples;
  set_quality(arguments.gates, host.given, options);
  options.measure = arguments.top;
  options.min_sqnr = arguments.min_sqnr;
  options.cache = arguments.cache;
  options.keep = arguments.keep;
  options.threads = arguments.jobs;
  if (!options.keep && !options.cache.empty())
    throw Error(ErrorCode::kUsage, "--cache and --no-cache contradict each other: leave one out");
  return options;
}

int run(const Arguments& arguments, Host& host, const CLI::App& app, const ReportFile& page) {
  SensitivityOptions options = options_of(arguments, host);
  const Stream human = for_people(arguments.json);
  std::vector<std::string> notes;
  const std::vector<ModelFile> models = find_originals(arguments.models, notes);
  for (const std::string& note : notes) host.say(Stream::kMessages, plainly("note: {}\n", note));
  const auto [rows, worst] = each_model<report::SensitivityRow>(
      models, app, options, host,
      [&](report::SensitivityRow& row) { row.result = sensitivity(row.model, options); },
      [&](const report::SensitivityRow& row, bool is_first) {
        host.say(human, (is_first ? "" : "\n") + report::sensitivity_text(row.result, options.min_sqnr));
      });
  page.deliver(report::sensitivity_json(rows, options.min_sqnr), arguments.json, host);
  return worst;
}

}  // namespace sensitivity_verb

Command add_sensitivity(CLI::App& parser) {
  using namespace sensitivity_verb;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app =
      parser.add_subcommand("sensitivity", "which layers suffer from a format, and what to leave out");
  app->add_option("model", arguments->models, "models, or folders of models")->required();
  app->add_option("--to", arguments->format, "the format to suffer from: static, dynamic, w8, w4")
      ->check(any_name_of({Format::kDynamic, Format::kStatic, Format::kW4, Format::kW8}))
      ->capture_default_str();
  app->add_option(
         "--by", arguments->grouping,
         "what is measured together: layer (each alone), block (by names, or neighbours), op (all Convs …)")
      ->check(any_sorted_name_of<Grouping>())
      ->capture_default_str();
  app->add_option("--top", arguments->top,
                  "measure only so many, those with the largest estimated error (0: all)")
      ->check(whole_number())
      ->capture_default_str();
  app->add_option("--min-sqnr", arguments->min_sqnr, "dB of the outputs that --exclude is to reach")
      ->check(number_between(-1000, 1000))
      ->capture_default_str();
  add_metric_options(*app, arguments->gates);
  app->add_option("--batch", arguments->data.batch, "samples in one run")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app->add_option(
      "--cache", arguments->cache,
      "folder in which measurements are kept (default: OUNCE_CACHE, or ounce in the user's cache)");
  app->add_flag("!--no-cache", arguments->keep, "keep nothing, and recall nothing");
  app->add_option("--jobs", arguments->jobs, "models measured at once (0: as many as CPUs and memory allow)")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  app->add_flag("--json", arguments->json, "print one JSON document on stdout");
  add_report_option(*app, arguments->report);
  add_data_options(*app, arguments->data, /*with_contract=*/true,
                   "required with --to static; default otherwise: random inputs");
  CLI::Option* samples = app->get_option("--samples");
  samples->description(
      "to measure on, evenly spread over the data (0: all; default: 64, with --carry the first 1024)");
  add_runtime_options(*app, arguments->runtime);
  return {app, [arguments, samples, app](Host& host) {
            arguments->has_samples = samples->count() != 0;
            return run(*arguments, host, *app, ReportFile(*app, arguments->report));
          }};
}

}  // namespace ounce::verbs
