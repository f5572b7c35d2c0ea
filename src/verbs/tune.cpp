#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/search.h>
#include <ounce/work.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>

#include "report/reports.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/sessions.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace tune_verb {

constexpr int kGateExit = 1;

struct Arguments {
  std::vector<std::string> models;
  std::string output, report, on = usual_cpus();
  TuneOptions options;
  QueueArguments queue;
  bool json = false;
};

// Parses a time such as "10m", or a number of models such as "40 models".
Budget budget_of(const std::string& text, const char* option) {
  constexpr std::uint64_t kMost = 1'000'000;
  const std::size_t word = text.find(" model");
  if (word == std::string::npos) return {duration_of(text, option), 0};
  Budget budget;
  const char* const last = text.data() + word;
  const auto [end, failure] = std::from_chars(text.data(), last, budget.models);
  const std::string_view unit = std::string_view(text).substr(word + 1);
  if (failure != std::errc() || end != last || budget.models == 0 || budget.models > kMost ||
      (unit != "models" && unit != "model"))
    throw Error(ErrorCode::kUsage,
                fmt::format("`{}` '{}' must be a time such as 10m, or a number of models such as '40 models'",
                            option, text));
  return budget;
}

std::filesystem::path usual_name(const std::filesystem::path& model) {
  std::filesystem::path output = model;
  return output.replace_extension(".tuned" + model.extension().string());
}

int run(Arguments& arguments, Host& host, const Options& verb) {
  const ReportFile page(verb, arguments.report);
  const OwnFiles own = OwnFiles::of(verb);
  TuneOptions& options = arguments.options;
  use_given(options.data, host.given);
  use_given(options.metric_command, host.given);
  options.cpus = cpus_of(arguments.on);
  // Show each trial while the search runs; the final report repeats them.
  options.on_trial = [&host](const TuneTrial& trial) { host.show(report::trial_line(trial)); };
  const Stream human = for_people(arguments.json);
  std::vector<std::string> notes;
  std::vector<ModelFile> models = find_originals(arguments.models, notes);
  // MODEL.closest.onnx of an earlier run is not an original model.
  std::erase_if(models, [](const ModelFile& model) {
    return model.was_found && model.path.stem().extension() == ".closest";
  });
  if (models.empty())
    throw Error(ErrorCode::kUsage, "nothing to tune: the folder has only .closest models of an earlier run",
                arguments.models.front());
  JobList list = assign_outputs(models, arguments.output, usual_name);
  notes.insert(notes.end(), list.notes.begin(), list.notes.end());
  say_notes(notes, host);
  const auto refusals = refused<report::TuneRow>(list.jobs, [&](const Job& job) {
    require_readable(job.model, verb);
    own.require_apart(job.output);
    job.require_place();
  });
  const auto [rows, worst] = each_row<report::TuneRow>(
      list.jobs, refusals, host,
      [&](report::TuneRow& row, const Job& job) {
        job.make_folder();
        const std::unique_ptr<Watch> watch = host.watch(row.model.string());
        options.progress = &watch->progress;
        const std::unique_ptr<WorkQueue> queue =
            queue_of(arguments.queue, verb, row.model, host.given, options.progress);
        options.queue = queue.get();
        row.result = tune(row.model, job.output, options);
        if (!row.result.passed) row.exit_code = kGateExit;
      },
      [&](const report::TuneRow& row, bool) {
        host.say(human, report::tune_text(row.result));
        return !row.result.is_interrupted;
      });
  if (rows.size() > 1 && refusals.rows.empty())
    host.say(human, fmt::format("\n{}", report::tune_table(rows)));
  return page.deliver(results::Document("tune").add(rows), arguments.json, host, worst);
}

void declare(Options& options, Arguments& arguments) {
  TuneOptions& tuning = arguments.options;
  options.add_option("model", arguments.models, "Models, or folders of models")->required();
  options
      .add_option("-o,--output", arguments.output,
                  "Write the best model to this file or folder (default: MODEL.tuned.onnx next to the "
                  "model)")
      ->type_name("FILE");
  options
      .add_option(
          "--objective", tuning.objective,
          "Choose the objective: balanced (lowest time × bytes), latency, size (at no loss of speed), memory "
          "(lowest memory at load, at 90 % or more of the original speed)")
      ->show_default();
  options
      .add_converted(
          "--budget", tuning.budget, budget_of,
          "Limit the search per model by time (90s, 10m, 2h), or by the number of candidates, without "
          "measuring their speed ('40 models')")
      ->show_default("10m");
  add_cpu_option(options, arguments.on,
                 "Test the best model on these CPUs, if it runs in INT8: avx2, avx512, arm64, none, or auto "
                 "for all that this machine can emulate (default: auto)");
  options.add_option("--target", tuning.target,
                     "Use only ops that this target supports. Examples: android-arm64@1.22.0, cuda");
  Option* cache = options.add_option(
      "--cache", tuning.cache,
      "Cache measurements in this folder, so that a stopped run can continue (default: OUNCE_CACHE, "
      "XDG_CACHE_HOME/ounce or ~/.cache/ounce)");
  options.add_flag("!--no-cache", tuning.keep, "Neither read nor write cached measurements")->excludes(cache);
  add_queue_options(options, arguments.queue);
  add_document_options(options, arguments.json, arguments.report);
  add_gate_options(options, tuning.gates, tuning,
                   "Thresholds (default: 30 dB for every output; with --labels 1 point of the metric)",
                   "90%");
  add_data_options(options, tuning.data, /*with_contract=*/true, kDataRequired);
  add_runtime_options(options, tuning.runtime);
}

std::unique_ptr<Session> open(const Arguments& arguments, const Options&) {
  return open_session(arguments.models.front(), arguments.options);
}

constexpr std::string_view kEveryday[] = {"--output",    "--data",   "--preprocess", "--labels", "--max-drop",
                                          "--objective", "--budget", "--target",     "--json",   "--report"};
constexpr std::string_view kExamples[] = {
    "ounce tune model.onnx --data val.npz --labels label --max-drop 1%",
    "ounce tune model.onnx --data val.npz --objective latency --budget 2m --report tune.html"};

}  // namespace tune_verb

extern constinit const VerbInfo kTune = {
    .name = "tune",
    .summary = "Search for the best mixed-precision model that meets the thresholds (exit code 1: none does)",
    .audience = Audience::kEveryday,
    .everyday = tune_verb::kEveryday,
    .examples = tune_verb::kExamples,
    .call = call_of<tune_verb::Arguments, tune_verb::declare, tune_verb::run>,
    .result = "TuneResult",
    .open = session_of<tune_verb::Arguments, tune_verb::declare, tune_verb::open>,
};

}  // namespace ounce::verbs
