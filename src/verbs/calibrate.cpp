#include <fmt/format.h>
#include <ounce/calibrate.h>
#include <ounce/error.h>
#include <ounce/importance.h>

#include <cstdio>
#include <memory>
#include <tuple>

#include "report/reports.h"
#include "verbs/data_options.h"
#include "verbs/json_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace calibrate_verb {

constexpr std::size_t kShown = 10;

struct Arguments {
  std::string model, output, shard;
  DataArguments data;
  RuntimeArguments runtime;
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
  if (arguments.json) print_document(results::Document("calibrate").add(result), verb, host);
  return 0;
}

int run(Arguments& arguments, Host& host, const Options& verb) {
  arguments.model = one_model(arguments.model).string();
  const OwnFiles own = OwnFiles::of(verb, arguments.data.contract.file);
  if (arguments.model.empty()) throw Error(ErrorCode::kUsage, "calibrate: say which model");
  CalibrateOptions options;
  options.data = data_options_of(arguments.data, host.given);
  options.runtime = runtime_options_of(arguments.runtime);
  if (!arguments.shard.empty()) std::tie(options.shard, options.shards) = part_of(arguments.shard, "--shard");
  std::filesystem::path output = arguments.output;
  if (output.empty()) output = std::filesystem::path(arguments.model).replace_extension(".ranges");
  own.require_apart(output);
  CalibrateResult result;
  {
    const std::unique_ptr<Watch> watch = host.watch(arguments.model);
    options.progress = &watch->progress;
    result = named(arguments.model, [&] { return calibrate(arguments.model, output, options); });
  }
  return show(arguments, host, verb, result);
}

int merge(const MergeArguments& arguments, Host& host, const Options& verb) {
  OwnFiles::of(verb).require_apart(arguments.output);
  std::vector<std::filesystem::path> parts(arguments.parts.begin(), arguments.parts.end());
  if (is_importance(parts.front())) {
    merge_importance(parts, arguments.output);
    if (arguments.json)
      print_document(results::Document("calibrate").add(results::MergedImportance{arguments.output}), verb,
                     host);
    host.say(for_people(arguments.json),
             safe_format("{} files of importance in {}\n", parts.size(), arguments.output));
    return 0;
  }
  return show(arguments, host, verb, merge_ranges(parts, arguments.output));
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "a model");
  options.add_option("-o,--output", arguments.output,
                     "the file of ranges (default: model.ranges beside the model)");
  options.add_option("--shard", arguments.shard,
                     "I/N: only every N-th sample, beginning with the I-th; 'merge' puts the parts together");
  options.add_option("--batch", arguments.data.batch, "samples in one run")
      ->check(whole_between(1, 1'000'000))
      ->show_default();
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
  options.add_flag("-v,--verbose", arguments.verbose, "show every value");
  add_data_options(options, arguments.data, /*with_contract=*/true, kDataRequired);
  add_runtime_options(options, arguments.runtime);
}

void declare_merge(Options& options, MergeArguments& arguments) {
  options.add_option("part", arguments.parts, "files of ranges")->required();
  options.add_option("-o,--output", arguments.output, "the file of ranges")->required();
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
  options.add_flag("-v,--verbose", arguments.verbose, "show every value");
}

constexpr VerbInfo kMerge = {
    .name = "merge",
    .summary = "put the parts of a calibration together: the same file as one run gives",
    .call = call_of<MergeArguments, declare_merge, merge>,
    .result = "CalibrateResult"};
constexpr const VerbInfo* kInside[] = {&kMerge};

constexpr std::string_view kEveryday[] = {"--data", "--output", "--samples", "--json"};
constexpr std::string_view kExamples[] = {"ounce calibrate model.onnx --data calib.npz -o model.ranges.json",
                                          "ounce quantize model.onnx --to int8 --ranges model.ranges.json"};

}  // namespace calibrate_verb

extern constinit const VerbInfo kCalibrate = {
    .name = "calibrate",
    .summary = "what the activations of a model look like on data, for static INT8",
    .everyday = calibrate_verb::kEveryday,
    .examples = calibrate_verb::kExamples,
    .call = call_of<calibrate_verb::Arguments, calibrate_verb::declare, calibrate_verb::run>,
    .result = "CalibrateResult",
    .verbs = calibrate_verb::kInside};

}  // namespace ounce::verbs
