#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>

#include "base/quality.h"
#include "report/messages.h"
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

// Prints the lines below the table. `is_alone`: the table has one model, so these lines need no model name.
void show_details(const report::QuantizeRow& row, bool verbose, bool is_alone, Host& host, Stream out) {
  if (!row.error.empty()) {
    host.complain(row.error.line());
    return;
  }
  if (verbose)
    host.say(out, fmt::format("\n{}", report::tensor_table(row.result.tensors, row.result.tensors.size())));
  const std::string name = is_alone ? "" : row.model.filename().string() + ": ";
  const TrialResult& trial = row.result.trial;
  const bool went_well = trial.is_tried && trial.samples != 0;  // then the table shows the result
  if (const std::string line = report::trial_line(trial); !line.empty() && (is_alone || !went_well))
    host.say(out, safe_format("  {}{}\n", name, line));
  for (const std::string& line :
       {report::speed_line(trial), report::kernels_line(trial), report::memory_line(row.result)}) {
    if (!line.empty()) host.say(out, safe_format("  {}{}\n", name, line));
  }
  // With several models, describe only the output error of bad ones.
  const std::string words = !went_well           ? ""
                            : trial.is_of_labels ? report::label_words(trial.sqnr_db)
                                                 : report::sqnr_words(trial.sqnr_db);
  if (!words.empty() && (is_alone || trial.sqnr_db < Quality::kMinUsable))
    host.say(out, safe_format("  {}{}{}\n", name, words,
                              trial.sqnr_db < Quality::kMinUsable
                                  ? report::with_options("; check it using `verify()` with `labels` or "
                                                         "`gates.min_agreement`")
                                  : ""));
  for (const std::string& line : report::cpu_lines(trial.cpus))
    host.say(out, safe_format("  {}on {}\n", name, line));
  const bool is_on_integers =
      std::any_of(row.result.nodes.begin(), row.result.nodes.end(),
                  [](const NodeOutcome& node) { return is_integer(node.arithmetic); });
  if (is_alone && is_on_integers && went_well && trial.cpus.empty())
    host.say(out, safe_format("  tested on this CPU only ({}); {}\n", trial.cpu,
                              report::with_options("test others with `cpus`")));
  if (is_alone) host.say(out, report::arithmetic_lines(row.result.nodes));
  for (const std::string& note : row.result.notes)
    host.say(out, safe_format("  {}note: {}\n", name, report::note_text(note)));
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
    report::Failure problem;  // of the .ort file, after the model itself was written
    const int emitted = guarded(
        job.output,
        [&] {
          if (row.error.empty() && !options.dry_run) emit(arguments.emit, job.output, own, host, human);
        },
        problem);
    if (!problem.empty())
      host.complain("the model was written, but its .ort file was not: " + problem.line());
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
  for (const std::string& note : notes) host.say(human, safe_format("note: {}\n", report::note_text(note)));
  return page.deliver(document.add(rows), arguments.json, host, worst);
}

void declare(Options& options, Arguments& arguments) {
  QuantizeOptions& request = arguments.options;
  TrialOptions& trial = request.trial;
  options.add_option("model", arguments.models, "Models, or folders of models")->required();
  options
      .add_option("-o,--output", arguments.output,
                  "Write to this file or folder (default: MODEL.FORMAT.onnx next to the model, such as "
                  "model.w8.onnx)")
      ->type_name("FILE");
  add_format_option(options, arguments.recipe, true);
  add_recipe_options(options, arguments.recipe);
  options
      .add_option("--external-data", request.external_data,
                  "Store weights in a separate file: auto (above 2 GiB), always, never")
      ->show_default();
  options
      .add_option("--threads", request.threads,
                  "Use this many threads (0: all CPUs); the written model does not depend on it")
      ->check(whole_between(0, 1024))
      ->show_default();
  options.add_flag("--dry-run", request.dry_run, "Print the plan and write nothing");
  add_document_options(options, arguments.json, arguments.report);
  options.add_flag("--pictures", request.pictures,
                   "Add histograms of weights and activations to the --json document, for 'ounce report' "
                   "(default: off; on with --report)");
  options.add_flag("-v,--verbose", arguments.verbose, "List the decision and its reason for every tensor");
  options.add_flag("--verify,!--no-verify", trial.is_wanted,
                   "Run the quantized model in ONNX Runtime and compare its outputs with the original before "
                   "writing it (default: on; --no-verify compares only the stored weights, so the file may "
                   "fail to load)");
  options.add_flag(
      "--allow-slower", trial.allow_slower,
      "Write an int8 or int8-dynamic model even if it is slower than the original on this CPU (default: "
      "refuse with exit code 3)");
  options.add_option(
      "--runtime", trial.runtime.library,
      "Use this ONNX Runtime to compare outputs: the path of a library, or a version (default: "
      "the newest)");
  options.add_option("--litert", trial.runtime.litert,
                     "Use this LiteRT for .tflite models: the path of a library, or a version (default: the "
                     "newest)");
  add_isolation_options(options, trial.runtime.isolate);
  add_cpu_option(options, arguments.on,
                 "Test int8 and int8-dynamic models on these CPUs before writing them: avx2, avx512, arm64, "
                 "none, or auto for all that this machine can emulate (default: auto)");
  add_integer_options(options, arguments.recipe);
  add_nbits_options(options, arguments.recipe);
  options
      .add_option("--importance", request.importance,
                  "Cache the layer importance for --bits and --target-size in this file: it is read if it "
                  "exists, else measured on --data and written. 'ounce calibrate merge' merges such files")
      ->group(kNbitsGroup);
  add_half_options(options, arguments.recipe);
  add_emit_options(options, arguments.emit);
  options
      .add_option("--ranges", request.ranges,
                  "Read the activation ranges for int8 from this file of 'ounce calibrate' (default: "
                  "calibrate on --data)")
      ->group(kIntegerGroup);
  options
      .add_option("--outputs", trial.outputs,
                  "Consider only these outputs when the search for int8 compares candidates; the others are "
                  "still compared and reported (repeatable, or separated by commas)")
      ->delimiter(',')
      ->one_at_a_time()
      ->group(kIntegerGroup);
  add_data_options(options, trial.data, /*with_contract=*/true,
                   "required for --to int8 without --ranges; otherwise the default is random inputs");
}

constexpr std::string_view kEveryday[] = {"--output",  "--to",      "--data",   "--preprocess",
                                          "--memory",  "--exclude", "--target", "--dry-run",
                                          "--verbose", "--json",    "--report"};
constexpr std::string_view kExamples[] = {
    "ounce quantize model.onnx",
    "ounce quantize model.onnx --to int8 --data calib.npz --report quantize.html",
    "ounce quantize models/ -o small/ --to w8"};

}  // namespace quantize_verb

extern constinit const VerbInfo kQuantize = {
    .name = "quantize",
    .summary = "Compress or quantize a model; compare it with the original before writing it",
    .audience = Audience::kEveryday,
    .everyday = quantize_verb::kEveryday,
    .examples = quantize_verb::kExamples,
    .call = call_of<quantize_verb::Arguments, quantize_verb::declare, quantize_verb::run>,
    .result = "QuantizeResult",
};

}  // namespace ounce::verbs
