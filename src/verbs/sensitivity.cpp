#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/sensitivity.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "recipe/format_info.h"
#include "report/reports.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/recipe_options.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace sensitivity_verb {

struct Arguments {
  std::vector<std::string> models;
  SensitivityOptions options;
  std::string report;
  bool json = false;
};

int run(Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  SensitivityOptions& options = arguments.options;
  use_given(options.data, host.given);
  use_given(options.metric_command, host.given);
  // Calibration takes more samples than those that are measured on.
  const std::uint64_t samples = std::exchange(options.data.samples, 0);
  if (verb.has("--samples")) options.samples = samples;
  if (!options.keep && !options.cache.empty())
    throw Error(ErrorCode::kUsage, "`--cache` and `--no-cache` contradict each other: leave one out");
  const Stream human = for_people(arguments.json);
  std::vector<std::string> notes;
  const std::vector<ModelFile> models = find_originals(arguments.models, notes);
  say_notes(notes, host);
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
  SensitivityOptions& wanted = arguments.options;
  options.add_option("model", arguments.models, "models, or folders of models")->required();
  options.add_option("--to", wanted.format, "format to analyze: int8, int8-dynamic, w8, w4")
      ->check(any_format(has_layer_errors))
      ->show_default();
  options
      .add_option(
          "--by", wanted.grouping,
          "what is measured together: layer (each alone), block (by names, or neighbours), op (all Convs …)")
      ->check(any_sorted_name_of<Grouping>())
      ->show_default();
  options
      .add_option("--top", wanted.measure,
                  "measure only so many, those with the largest estimated error (0: all)")
      ->check(whole_number())
      ->show_default();
  options.add_option("--min-sqnr", wanted.min_sqnr, "dB of the outputs that --exclude is to reach")
      ->check(number_between(-1000, 1000))
      ->show_default();
  add_metric_options(options, wanted);
  add_batch_option(options, wanted.data);
  options.add_option(
      "--cache", wanted.cache,
      "folder in which measurements are kept (default: OUNCE_CACHE, or ounce in the user's cache)");
  options.add_flag("!--no-cache", wanted.keep, "keep nothing, and recall nothing");
  options
      .add_option("--jobs", wanted.threads, "models measured at once (0: as many as CPUs and memory allow)")
      ->check(whole_between(0, 4096))
      ->show_default();
  add_document_options(options, arguments.json, arguments.report);
  add_data_options(options, wanted.data, /*with_contract=*/true,
                   "required with --to int8; default otherwise: random inputs");
  options.find("--samples")->help =
      "to measure on, evenly spread over the data (0: all; default: 64, with --carry the first 1024)";
  add_runtime_options(options, wanted.runtime);
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
