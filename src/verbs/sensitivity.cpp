#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/sensitivity.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "recipe/format_info.h"
#include "report/reports.h"
#include "verbs/data_options.h"
#include "verbs/gate_options.h"
#include "verbs/model_list.h"
#include "verbs/recipe_options.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace sensitivity_verb {

struct Arguments {
  std::vector<std::string> models;
  RuntimeArguments runtime;
  DataArguments data;
  GateArguments gates;  // only those of metrics
  std::string format = name_of(SensitivityOptions().format), grouping = "layer", cache, report;
  std::uint64_t top = 0;
  double min_sqnr = 30;
  unsigned jobs = 0;
  bool keep = true, json = false;
};

SensitivityOptions options_of(const Arguments& arguments, Host& host, const Options& verb) {
  SensitivityOptions options;
  options.format = value_of<Format>(arguments.format);
  options.grouping = value_of<Grouping>(arguments.grouping);
  options.runtime = runtime_options_of(arguments.runtime);
  options.data = data_options_of(arguments.data, host.given);
  options.data.samples = 0;  // calibration takes more of them
  if (verb.has("--samples")) options.samples = arguments.data.samples;
  set_quality(arguments.gates, host.given, options);
  options.measure = arguments.top;
  options.min_sqnr = arguments.min_sqnr;
  options.cache = arguments.cache;
  options.keep = arguments.keep;
  options.threads = arguments.jobs;
  if (!options.keep && !options.cache.empty())
    throw Error(ErrorCode::kUsage, "`--cache` and `--no-cache` contradict each other: leave one out");
  return options;
}

int run(const Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  SensitivityOptions options = options_of(arguments, host, verb);
  const Stream human = for_people(arguments.json);
  std::vector<std::string> notes;
  const std::vector<ModelFile> models = find_originals(arguments.models, notes);
  for (const std::string& note : notes) host.say(Stream::kMessages, safe_format("note: {}\n", note));
  const auto [rows, worst] = each_model<report::SensitivityRow>(
      models, verb, options, host,
      [&](report::SensitivityRow& row) { row.result = sensitivity(row.model, options); },
      [&](const report::SensitivityRow& row, bool is_first) {
        host.say(human, (is_first ? "" : "\n") + report::sensitivity_text(row.result, options.min_sqnr));
      });
  page.deliver(results::Document("sensitivity").add(rows), arguments.json, host);
  return worst;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.models, "models, or folders of models")->required();
  options.add_option("--to", arguments.format, "format to analyze: int8, int8-dynamic, w8, w4")
      ->check(any_format(has_layer_errors))
      ->show_default();
  options
      .add_option(
          "--by", arguments.grouping,
          "what is measured together: layer (each alone), block (by names, or neighbours), op (all Convs …)")
      ->check(any_sorted_name_of<Grouping>())
      ->show_default();
  options
      .add_option("--top", arguments.top,
                  "measure only so many, those with the largest estimated error (0: all)")
      ->check(whole_number())
      ->show_default();
  options.add_option("--min-sqnr", arguments.min_sqnr, "dB of the outputs that --exclude is to reach")
      ->check(number_between(-1000, 1000))
      ->show_default();
  add_metric_options(options, arguments.gates);
  options.add_option("--batch", arguments.data.batch, "samples in one run")
      ->check(whole_between(1, 1'000'000))
      ->show_default();
  options.add_option(
      "--cache", arguments.cache,
      "folder in which measurements are kept (default: OUNCE_CACHE, or ounce in the user's cache)");
  options.add_flag("!--no-cache", arguments.keep, "keep nothing, and recall nothing");
  options
      .add_option("--jobs", arguments.jobs, "models measured at once (0: as many as CPUs and memory allow)")
      ->check(whole_between(0, 4096))
      ->show_default();
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
  add_report_option(options, arguments.report);
  add_data_options(options, arguments.data, /*with_contract=*/true,
                   "required with --to int8; default otherwise: random inputs");
  options.find("--samples")->help =
      "to measure on, evenly spread over the data (0: all; default: 64, with --carry the first 1024)";
  add_runtime_options(options, arguments.runtime);
}

constexpr std::string_view kEveryday[] = {"--data",     "--to",  "--by",   "--labels",
                                          "--min-sqnr", "--top", "--json", "--report"};
constexpr std::string_view kExamples[] = {
    "ounce sensitivity model.onnx --data val.npz",
    "ounce sensitivity model.onnx --data val.npz --by block --report sensitivity.html"};

}  // namespace sensitivity_verb

extern constinit const VerbInfo kSensitivity = {
    .name = "sensitivity",
    .summary = "which layers suffer from a format, and what to leave out",
    .everyday = sensitivity_verb::kEveryday,
    .examples = sensitivity_verb::kExamples,
    .call = call_of<sensitivity_verb::Arguments, sensitivity_verb::declare, sensitivity_verb::run>,
    .result = "SensitivityResult",
};

}  // namespace ounce::verbs
