#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/search.h>
#include <ounce/work.h>

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
#include "verbs/sessions.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace sensitivity_verb {

struct Arguments {
  std::vector<std::string> models;
  SensitivityOptions options;
  QueueArguments queue;
  std::string report;
  bool json = false;
};

// --samples limits the measurement only; calibration uses all samples.
void take_samples(SensitivityOptions& options, const Options& verb) {
  const std::uint64_t samples = std::exchange(options.data.samples, 0);
  if (verb.has("--samples")) options.samples = samples;
}

int run(Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  SensitivityOptions& options = arguments.options;
  use_given(options.data, host.given);
  use_given(options.metric_command, host.given);
  take_samples(options, verb);
  if (!options.keep && !options.cache.empty())
    throw Error(ErrorCode::kUsage, "`--cache` and `--no-cache` contradict each other: leave one out");
  const Stream human = for_people(arguments.json);
  std::vector<std::string> notes;
  const std::vector<ModelFile> models = find_originals(arguments.models, notes);
  say_notes(notes, host);
  const auto [rows, worst] = each_model<report::SensitivityRow>(
      models, verb, options, host,
      [&](report::SensitivityRow& row) {
        const std::unique_ptr<WorkQueue> queue =
            queue_of(arguments.queue, verb, row.model, host.given, options.progress);
        options.queue = queue.get();
        row.result = sensitivity(row.model, options);
      },
      [&](const report::SensitivityRow& row, bool is_first) {
        host.say(human, (is_first ? "" : "\n") + report::sensitivity_text(row.result, options.min_sqnr));
      });
  return page.deliver(results::Document("sensitivity").add(rows), arguments.json, host, worst);
}

void declare(Options& options, Arguments& arguments) {
  SensitivityOptions& wanted = arguments.options;
  options.add_option("model", arguments.models, "Models, or folders of models")->required();
  options.add_option("--to", wanted.format, "Analyze this format: int8, int8-dynamic, w8, w4")
      ->check(any_format(has_layer_errors))
      ->show_default();
  options
      .add_option(
          "--by", wanted.grouping,
          "Group layers for the measurement: layer (each layer alone), block (by common names, or adjacent "
          "layers), op (by op type)")
      ->check(any_sorted_name_of<Grouping>())
      ->show_default();
  options
      .add_option("--top", wanted.measure,
                  "Measure only this many groups, those with the largest estimated error (0: all)")
      ->check(whole_number())
      ->show_default();
  options
      .add_option("--min-sqnr", wanted.min_sqnr,
                  "Suggest layers to exclude until the outputs reach this SQNR, in dB")
      ->check(number_between(-1000, 1000))
      ->show_default();
  add_metric_options(options, wanted);
  add_batch_option(options, wanted.data);
  options.add_option(
      "--cache", wanted.cache,
      "Cache measurements in this folder (default: OUNCE_CACHE, XDG_CACHE_HOME/ounce or ~/.cache/ounce)");
  options.add_flag("!--no-cache", wanted.keep, "Neither read nor write cached measurements");
  options
      .add_option("--jobs", wanted.threads,
                  "Measure this many models in parallel (0: as many as CPUs and memory allow)")
      ->check(whole_between(0, 4096))
      ->show_default();
  add_queue_options(options, arguments.queue);
  add_document_options(options, arguments.json, arguments.report);
  add_data_options(options, wanted.data, /*with_contract=*/true,
                   "required with --to int8; otherwise the default is random inputs");
  options.find("--samples")->help =
      "Measure on this many samples, evenly spread over the data (0: all; default: 64, with --carry the "
      "first 1024)";
  add_runtime_options(options, wanted.runtime);
}

std::unique_ptr<Session> open(Arguments& arguments, const Options& options) {
  take_samples(arguments.options, options);
  return open_session(arguments.models.front(), arguments.options);
}

constexpr std::string_view kEveryday[] = {"--data",     "--preprocess", "--to",   "--by",    "--labels",
                                          "--min-sqnr", "--top",        "--json", "--report"};
constexpr std::string_view kExamples[] = {
    "ounce sensitivity model.onnx --data val.npz",
    "ounce sensitivity model.onnx --data val.npz --by block --report sensitivity.html"};

}  // namespace sensitivity_verb

extern constinit const VerbInfo kSensitivity = {
    .name = "sensitivity",
    .summary = "Rank layers by their quantization error and suggest layers to exclude",
    .everyday = sensitivity_verb::kEveryday,
    .examples = sensitivity_verb::kExamples,
    .call = call_of<sensitivity_verb::Arguments, sensitivity_verb::declare, sensitivity_verb::run>,
    .result = "SensitivityResult",
    .open = session_of<sensitivity_verb::Arguments, sensitivity_verb::declare, sensitivity_verb::open>,
};

}  // namespace ounce::verbs
