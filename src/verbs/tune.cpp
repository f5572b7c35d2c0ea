#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/tune.h>

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
namespace tune_verb {

constexpr int kGateExit = 1;

struct Arguments {
  std::vector<std::string> models;
  std::string output, objective = "balanced", budget = "10m", target, cache, report, on = usual_cpus();
  GateArguments gates;
  DataArguments data;
  RuntimeArguments runtime;
  bool keep = true, json = false;
};

TuneOptions options_of(const Arguments& arguments, Host& host) {
  TuneOptions options;
  options.runtime = runtime_options_of(arguments.runtime);
  options.data = data_options_of(arguments.data, host.given);
  options.gates = gates_of(arguments.gates);
  set_quality(arguments.gates, host.given, options);
  options.objective = value_of<Objective>(arguments.objective);
  options.budget = budget_of(arguments.budget, "--budget");
  options.target = arguments.target;
  options.cpus = cpus_of(arguments.on);
  options.cache = arguments.cache;
  options.keep = arguments.keep;
  // People who wait want to see what happens; the report says it all again.
  options.on_trial = [&host](const TuneTrial& trial) { host.show(report::trial_line(trial)); };
  return options;
}

std::filesystem::path usual_name(const std::filesystem::path& model) {
  std::filesystem::path output = model;
  return output.replace_extension(".tuned" + model.extension().string());
}

int run(const Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  const OwnFiles own = OwnFiles::of(verb, arguments.data.contract.file);
  TuneOptions options = options_of(arguments, host);
  const Stream human = for_people(arguments.json);
  std::vector<std::string> notes;
  std::vector<ModelFile> models = find_originals(arguments.models, notes);
  // The closest model of an earlier run is no original.
  std::erase_if(models, [](const ModelFile& model) {
    return model.was_found && model.path.stem().extension() == ".closest";
  });
  if (models.empty())
    throw Error(ErrorCode::kUsage, "there is nothing to tune but what came closest in an earlier run",
                arguments.models.front());
  JobList list = assign_outputs(models, arguments.output, usual_name);
  notes.insert(notes.end(), list.notes.begin(), list.notes.end());
  for (const std::string& note : notes) host.say(Stream::kMessages, safe_format("note: {}\n", note));
  auto [rows, worst] = refused<report::TuneRow>(
      list.jobs, [](const Job& job) -> const ModelFile& { return job.model; },
      [&](const Job& job) {
        require_readable(job.model, verb);
        own.require_apart(job.output);
        job.require_place();
      });
  if (!rows.empty()) list.jobs.clear();  // then nothing is worked on
  for (const report::TuneRow& row : rows) host.complain(row.error.message);
  for (const Job& job : list.jobs) {
    report::TuneRow row;
    row.model = job.model.path;
    row.exit_code = guarded(
        job.model.path,
        [&] {
          job.make_folder();
          const std::unique_ptr<Watch> watch = host.watch(job.model.path.string());
          options.progress = &watch->progress;
          row.result = tune(job.model.path, job.output, options);
        },
        row.error);
    if (row.error.empty() && !row.result.passed) row.exit_code = kGateExit;
    worst = std::max(worst, row.exit_code);
    if (row.error.empty()) {
      host.say(human, report::tune_text(row.result));
    } else {
      host.complain(row.error.message);
    }
    const bool is_interrupted = row.result.is_interrupted;
    rows.push_back(std::move(row));
    if (is_interrupted) break;
  }
  if (rows.size() > 1 && !list.jobs.empty()) host.say(human, fmt::format("\n{}", report::tune_table(rows)));
  page.deliver(results::Document("tune").add(rows), arguments.json, host);
  return worst;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.models, "models, or folders of models")->required();
  options.add_option("-o,--output", arguments.output, "where the best goes (default: MODEL.tuned.onnx)");
  options
      .add_option(
          "--objective", arguments.objective,
          "balanced (least time × bytes), latency, size (without being slower than the original), memory "
          "(least at load, at 90 % of the original's speed or more)")
      ->check(any_name_of<Objective>())
      ->show_default();
  options
      .add_option("--budget", arguments.budget,
                  "time for each model: 90s, 10m, 2h; or how much is tried, without timing it: '40 models'")
      ->show_default();
  add_cpu_option(
      options, arguments.on,
      "other CPUs to run the result on in the end, if it computes on integers: avx2, avx512, arm64; "
      "none; auto for all that can be shown here (default: auto)");
  options.add_option("--target", arguments.target,
                     "where the model will run, such as android-arm64@1.22.0: what it lacks is not written");
  Option* cache = options.add_option(
      "--cache", arguments.cache,
      "folder that keeps measurements, so that a run goes on where it was (default: OUNCE_CACHE, "
      "XDG_CACHE_HOME/ounce or ~/.cache/ounce)");
  options.add_flag("!--no-cache", arguments.keep, "keep no measurements, and use none")->excludes(cache);
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
  add_report_option(options, arguments.report);
  add_gate_options(options, arguments.gates,
                   "Gates (without any: 30 dB for every output; with --labels 1 point of the metric)", "90%");
  add_data_options(options, arguments.data, /*with_contract=*/true, kDataRequired);
  add_runtime_options(options, arguments.runtime);
}

constexpr std::string_view kEveryday[] = {"--output", "--data",   "--labels", "--max-drop", "--objective",
                                          "--budget", "--target", "--json",   "--report"};
constexpr std::string_view kExamples[] = {
    "ounce tune model.onnx --data val.npz --labels label --max-drop 1%",
    "ounce tune model.onnx --data val.npz --objective latency --budget 2m --report tune.html"};

}  // namespace tune_verb

extern constinit const VerbInfo kTune = {
    .name = "tune",
    .summary =
        "find the smallest and fastest mixed-precision model that passes the gate; exit 1 if none does",
    .audience = Audience::kEveryday,
    .everyday = tune_verb::kEveryday,
    .examples = tune_verb::kExamples,
    .call = call_of<tune_verb::Arguments, tune_verb::declare, tune_verb::run>,
    .result = "TuneResult",
};

}  // namespace ounce::verbs
