#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/search.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "report/reports.h"
#include "verbs/common_options.h"
#include "verbs/json_options.h"
#include "verbs/model_list.h"
#include "verbs/next_step.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace advise_verb {

struct Arguments {
  std::vector<std::string> models;
  AdviseOptions options;
  std::string report;
  bool json = false;
};

int run(Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  AdviseOptions& options = arguments.options;
  use_given(options.data, host.given);
  use_given(options.metric_command, host.given);
  // For the recommended commands. Data in memory has no path, so they name the placeholder DATA.
  options.data_words = data_words(verb);
  if (host.given.data) options.data_words.insert(options.data_words.begin(), {"--data", "DATA"});
  const Stream human = for_people(arguments.json);
  std::vector<std::string> notes;
  const std::vector<ModelFile> models = find_originals(arguments.models, notes);
  say_notes(notes, host);
  const auto [rows, worst] = each_model<report::AdviseRow>(
      models, verb, options, host, [&](report::AdviseRow& row) { row.result = advise(row.model, options); },
      [&](const report::AdviseRow& row, bool is_first) {
        host.say(human, (is_first ? "" : "\n") + report::advise_text(row.result));
      });
  if (rows.size() > 1) host.say(human, fmt::format("\n{}", report::advise_table(rows)));
  return page.deliver(results::Document("advise").add(rows), arguments.json, host, worst);
}

void declare(Options& options, Arguments& arguments) {
  AdviseOptions& advice = arguments.options;
  options.add_option("model", arguments.models, "Models, or folders of models")->required();
  options
      .add_converted("--budget", advice.budget, duration_of, "Limit the time per model. Examples: 90s, 5m")
      ->show_default("60s");
  options.add_option(
      "--target", advice.target,
      "Recommend only methods that this target supports: a platform and release (android-arm64@1.22.0) or an "
      "execution provider (cuda)");
  add_metric_options(options, advice);
  options
      .add_converted("--max-drop", advice.max_drop, share_up_to(0.2),
                     "Set the largest acceptable drop of the metric. Example: 0.5%")
      ->show_default("0.5%");
  options
      .add_option("--min-sqnr", advice.min_sqnr,
                  "Set the lowest acceptable SQNR of an output in dB (default without labels: 20; for "
                  "generated audio: "
                  "30)")
      ->check(number_between(-1000, 1000));
  add_document_options(options, arguments.json, arguments.report);
  add_data_options(options, advice.data);
  add_runtime_options(options, advice.runtime);
}

constexpr std::string_view kEveryday[] = {"--data",   "--preprocess", "--labels", "--budget",
                                          "--target", "--max-drop",   "--json",   "--report"};
constexpr std::string_view kExamples[] = {
    "ounce advise model.onnx", "ounce advise model.onnx --data val.npz --labels label --budget 90s"};

}  // namespace advise_verb

extern constinit const VerbInfo kAdvise = {
    .name = "advise",
    .summary = "Measure every format on a model and recommend one",
    .audience = Audience::kEveryday,
    .everyday = advise_verb::kEveryday,
    .examples = advise_verb::kExamples,
    .call = call_of<advise_verb::Arguments, advise_verb::declare, advise_verb::run>,
    .result = "AdviseResult",
};

}  // namespace ounce::verbs
