#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/work.h>

#include <cstdio>
#include <memory>
#include <tuple>

#include "report/reports.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/sessions.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace calibrate_verb {

constexpr std::size_t kShown = 10;

struct Arguments {
  std::filesystem::path model, output;
  CalibrateOptions options;
  QueueArguments queue;
  std::uint64_t parts = 0;
  bool json = false, verbose = false;
};

struct MergeArguments {
  std::vector<std::string> parts;
  std::string output;
  bool json = false, verbose = false;
};

template <class Shown>
int show(const Shown& arguments, Host& host, const Options& verb, const CalibrateResult& result) {
  const std::size_t shown = arguments.verbose ? result.values.size() : kShown;
  host.say(for_people(arguments.json), report::calibrate_text(result, shown));
  deliver(results::Document("calibrate").add(result), arguments.json, verb, host);
  return 0;
}

int run(Arguments& arguments, Host& host, const Options& verb) {
  const std::filesystem::path model = one_model(arguments.model.string());
  if (model.empty()) throw Error(ErrorCode::kUsage, "calibrate: model is required");
  CalibrateOptions& options = arguments.options;
  use_given(options.data, host.given);
  std::filesystem::path output = arguments.output;
  if (output.empty()) output = std::filesystem::path(model).replace_extension(".ranges");
  OwnFiles::of(verb).require_apart(output);
  const CalibrateResult result = named(model, [&] {
    const std::unique_ptr<Watch> watch = host.watch(model.string());
    options.progress = &watch->progress;
    const std::unique_ptr<WorkQueue> queue =
        queue_of(arguments.queue, verb, model, host.given, options.progress);
    if (queue != nullptr) return calibrate_parts(model, output, options, *queue, arguments.parts);
    return calibrate(model, output, options);
  });
  return show(arguments, host, verb, result);
}

int merge(const MergeArguments& arguments, Host& host, const Options& verb) {
  OwnFiles::of(verb).require_apart(arguments.output);
  std::vector<std::filesystem::path> parts(arguments.parts.begin(), arguments.parts.end());
  if (is_importance(parts.front())) {
    merge_importance(parts, arguments.output);
    host.say(for_people(arguments.json),
             safe_format("{} importance files merged into {}\n", parts.size(), arguments.output));
    deliver(results::Document("calibrate").add(results::MergedImportance{arguments.output}), arguments.json,
            verb, host);
    return 0;
  }
  return show(arguments, host, verb, merge_ranges(parts, arguments.output));
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "The model");
  options
      .add_option("-o,--output", arguments.output,
                  "Write the activation ranges to this file (default: model.ranges next to the model)")
      ->type_name("FILE");
  options.add_text("--shard",
                   "Use every N-th sample only, starting with the I-th, as I/N; 'ounce calibrate merge' "
                   "combines the parts. Example: 1/4",
                   [&calibration = arguments.options](const std::string& word) {
                     std::tie(calibration.shard, calibration.shards) = part_of(word, "--shard");
                   });
  add_batch_option(options, arguments.options.data);
  add_queue_options(options, arguments.queue);
  options
      .add_option("--parts", arguments.parts,
                  "With --queue: split the data into this many parts (0: by the number of samples)")
      ->check(whole_number())
      ->show_default();
  add_json_option(options, arguments.json);
  options.add_flag("-v,--verbose", arguments.verbose, "List every activation");
  add_data_options(options, arguments.options.data, /*with_contract=*/true, kDataRequired);
  add_runtime_options(options, arguments.options.runtime);
}

void declare_merge(Options& options, MergeArguments& arguments) {
  options.add_option("part", arguments.parts, "Calibration files to merge")->required();
  options.add_option("-o,--output", arguments.output, "Write the merged file here")->required();
  add_json_option(options, arguments.json);
  options.add_flag("-v,--verbose", arguments.verbose, "List every activation");
}

constexpr VerbInfo kMerge = {
    .name = "merge",
    .summary = "Merge the parts of a sharded calibration; the result equals that of one run",
    .call = call_of<MergeArguments, declare_merge, merge>,
    .result = "CalibrateResult"};
constexpr const VerbInfo* kInside[] = {&kMerge};

std::unique_ptr<Session> open(const Arguments& arguments, const Options&) {
  return open_session(arguments.model, arguments.options);
}

constexpr std::string_view kEveryday[] = {"--data", "--output", "--samples", "--json"};
constexpr std::string_view kExamples[] = {"ounce calibrate model.onnx --data calib.npz -o model.ranges.json",
                                          "ounce quantize model.onnx --to int8 --ranges model.ranges.json"};

}  // namespace calibrate_verb

extern constinit const VerbInfo kCalibrate = {
    .name = "calibrate",
    .summary = "Collect activation ranges on data for static INT8 quantization",
    .everyday = calibrate_verb::kEveryday,
    .examples = calibrate_verb::kExamples,
    .call = call_of<calibrate_verb::Arguments, calibrate_verb::declare, calibrate_verb::run>,
    .result = "CalibrateResult",
    .verbs = calibrate_verb::kInside,
    .open = session_of<calibrate_verb::Arguments, calibrate_verb::declare, calibrate_verb::open>};

}  // namespace ounce::verbs
