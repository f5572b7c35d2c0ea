#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>

#include "base/quality.h"
#include "report/recipe_command.h"
#include "report/reports.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/recipe_options.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace quantize_verb {

struct Arguments {
  std::vector<std::string> models;
  std::string output;
  RecipeArguments recipe;
  QuantizeOptions options;
  EmitArguments emit;
  std::string report, on = usual_cpus();
  bool json = false, verbose = false;
};

// `is_alone`: no other model is in the table, so lines below it need no name.
void show_details(const report::QuantizeRow& row, bool verbose, bool is_alone, Host& host, Stream out) {
  if (!row.error.empty()) {
    host.complain(row.error.message);
    return;
  }
  if (verbose)
    host.say(out, fmt::format("\n{}", report::tensor_table(row.result.tensors, row.result.tensors.size())));
  const std::string name = is_alone ? "" : row.model.filename().string() + ": ";
  const TrialResult& trial = row.result.trial;
  const bool went_well = trial.is_tried && trial.samples != 0;  // then the table says it all
  if (const std::string line = report::trial_line(trial); !line.empty() && (is_alone || !went_well))
    host.say(out, safe_format("  {}{}\n", name, line));
  for (const std::string& line :
       {report::speed_line(trial), report::kernels_line(trial), report::memory_line(row.result)}) {
    if (!line.empty()) host.say(out, safe_format("  {}{}\n", name, line));
  }
  // What is good needs no words among many.
  const std::string words = !went_well           ? ""
                            : trial.is_of_labels ? report::label_words(trial.sqnr_db)
                                                 : report::sqnr_words(trial.sqnr_db);
  if (!words.empty() && (is_alone || trial.sqnr_db < Quality::kMinUsable))
    host.say(out, safe_format("  {}{}{}\n", name, words,
                              trial.sqnr_db < Quality::kMinUsable
                                  ? report::with_options("; `verify()` tells, with `labels` or "
                                                         "`gates.min_agreement`")
                                  : ""));
  for (const std::string& line : report::cpu_lines(trial.cpus))
    host.say(out, safe_format("  {}on {}\n", name, line));
  const bool is_on_integers =
      std::any_of(row.result.nodes.begin(), row.result.nodes.end(),
                  [](const NodeOutcome& node) { return is_integer(node.arithmetic); });
  if (is_alone && is_on_integers && went_well && trial.cpus.empty())
    host.say(out, safe_format("  proved on this CPU alone ({}); {}\n", trial.cpu,
                              report::with_options("`cpus` names others")));
  if (is_alone) host.say(out, report::arithmetic_lines(row.result.nodes));
  for (const std::string& note : row.result.notes)
    host.say(out, safe_format("  {}note: {}\n", name, report::with_options(note)));
}

int run(Arguments& arguments, Host& host, const Options& verb) {
  QuantizeOptions& options = arguments.options;
  OwnFiles own = OwnFiles::of(verb);
  own.add("--ranges", options.ranges.string());
  own.add("--importance", options.importance.string());
  const ReportFile page(verb, arguments.report);
  options.recipe = recipe_of(arguments.recipe);
  options.pictures |= page.is_wanted();
  use_given(options.trial.data, host.given);
  if (options.recipe.is_integer()) options.trial.cpus = cpus_of(arguments.on);
  arguments.emit.options.library = options.trial.runtime.library;
  arguments.emit.options.target = options.recipe.target;
  const Stream human = for_people(arguments.json);
  const auto usual_name = [&](const std::filesystem::path& path) {
    return default_output(path, possible_format(path, options.recipe.format));
  };
  std::vector<std::string> notes;
  JobList list = assign_outputs(find_originals(arguments.models, notes), arguments.output, usual_name);
  notes.insert(notes.end(), list.notes.begin(), list.notes.end());
  auto [rows, worst] = refused<report::QuantizeRow>(list.jobs, [&](const Job& job) {
    require_readable(job.model, verb);
    own.require_apart(job.output);
    if (options.dry_run) return;
    job.require_place();
    require_emit_places(arguments.emit, job, own);
  });
  if (!rows.empty()) list.jobs.clear();  // then nothing is worked on
  results::Document document("quantize");
  for (const Job& job : list.jobs) {
    const std::filesystem::path& model = job.model.path;
    report::QuantizeRow row;
    row.model = model;
    row.exit_code = guarded(
        model,
        [&] {
          const std::unique_ptr<Watch> watch = host.watch(model.string());
          options.progress = &watch->progress;
          if (!options.dry_run) job.make_folder();
          row.result = quantize(model, job.output, options);
        },
        row.error);
    report::Failure problem;  // of what is made in addition, when the model itself is written
    const int emitted = guarded(
        job.output,
        [&] {
          if (row.error.empty() && !options.dry_run) emit(arguments.emit, job.output, own, host, human);
        },
        problem);
    if (!problem.empty()) host.complain("the model is written, its .ort file is not: " + problem.message);
    if (!problem.empty()) document.add_error(job.output, problem);
    row.exit_code = std::max(row.exit_code, emitted);
    worst = std::max(worst, row.exit_code);
    rows.push_back(std::move(row));
  }
  if (!list.jobs.empty() && (rows.size() > 1 || rows[0].error.empty()))
    host.say(human, report::quantize_table(rows, options.dry_run));
  for (const report::QuantizeRow& row : rows)
    show_details(row, arguments.verbose || options.dry_run, rows.size() == 1, host, human);
  if (rows.size() == 1 && rows[0].error.empty() && !arguments.verbose && !options.dry_run) {
    host.say(human, report::left_alone(rows[0].result.tensors));
  }
  for (const std::string& note : notes) host.say(human, safe_format("note: {}\n", note));
  page.deliver(document.add(rows), arguments.json, host);
  return worst;
}

void declare(Options& options, Arguments& arguments) {
  QuantizeOptions& request = arguments.options;
  TrialOptions& trial = request.trial;
  options.add_option("model", arguments.models, "models, or folders of models")->required();
  options.add_option("-o,--output", arguments.output,
                     "file or folder for the results (default: model.w8.onnx beside the model)");
  add_format_option(options, arguments.recipe, true);
  add_recipe_options(options, arguments.recipe);
  options
      .add_option("--external-data", request.external_data,
                  "weights in a file of their own: auto (above 2 GiB), always, never")
      ->show_default();
  options.add_option("--threads", request.threads, "threads (0: all CPUs); the result does not depend on it")
      ->check(whole_between(0, 1024))
      ->show_default();
  options.add_flag("--dry-run", request.dry_run, "print the plan, write nothing");
  add_document_options(options, arguments.json, arguments.report);
  options.add_flag("--pictures", request.pictures,
                   "put into the document of --json what 'ounce report' draws pictures of: histograms of "
                   "weights and activations (with --report: on)");
  options.add_flag("-v,--verbose", arguments.verbose, "say for every tensor what was done and why");
  options.add_flag("--verify,!--no-verify", trial.is_wanted,
                   "load the result in ONNX Runtime and compare its outputs with the original's before it is "
                   "written (default: on; "
                   "without, only the stored weights are compared and the file may not run)");
  options.add_flag(
      "--allow-slower", trial.allow_slower,
      "int8, int8-dynamic: write the model even if it is slower than the original on this CPU (default: "
      "refuse with exit 3)");
  options.add_option("--runtime", trial.runtime.library,
                     "ONNX Runtime for that: a library's path, or a version (default: the newest)");
  options.add_option("--litert", trial.runtime.litert, "LiteRT for .tflite models, in the same way");
  add_isolation_options(options, trial.runtime.isolate);
  add_cpu_option(
      options, arguments.on,
      "int8, int8-dynamic: other CPUs to run the result on before it is written: avx2, avx512, arm64; "
      "none; auto for all that can be shown here (default: auto)");
  add_integer_options(options, arguments.recipe);
  add_nbits_options(options, arguments.recipe);
  options
      .add_option("--importance", request.importance,
                  "what more bits bring to each layer, for --bits and --target-size: read if the file is "
                  "there, else measured on --data and written; 'ounce calibrate merge' puts several together")
      ->group(kNbitsGroup);
  add_half_options(options, arguments.recipe);
  add_emit_options(options, arguments.emit);
  options
      .add_option("--ranges", request.ranges,
                  "int8: what 'ounce calibrate' saw; without it, the data of --data is looked at")
      ->group(kIntegerGroup);
  add_data_options(options, trial.data, /*with_contract=*/true,
                   "required for --to int8 without --ranges; default otherwise: random inputs");
}

constexpr std::string_view kEveryday[] = {"--output", "--to",      "--data",    "--memory", "--exclude",
                                          "--target", "--dry-run", "--verbose", "--json",   "--report"};
constexpr std::string_view kExamples[] = {
    "ounce quantize model.onnx",
    "ounce quantize model.onnx --to int8 --data calib.npz --report quantize.html",
    "ounce quantize models/ -o small/ --to w8"};

}  // namespace quantize_verb

extern constinit const VerbInfo kQuantize = {
    .name = "quantize",
    .summary = "make a model smaller: store its weights in fewer bytes, or compute on integers",
    .audience = Audience::kEveryday,
    .everyday = quantize_verb::kEveryday,
    .examples = quantize_verb::kExamples,
    .call = call_of<quantize_verb::Arguments, quantize_verb::declare, quantize_verb::run>,
    .result = "QuantizeResult",
};

}  // namespace ounce::verbs
