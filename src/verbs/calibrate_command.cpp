#include <fmt/format.h>
#include <ounce/calibrate.h>
#include <ounce/error.h>
#include <ounce/importance.h>

#include <nlohmann/json.hpp>
#include <charconv>
#include <cstdio>
#include <memory>

#include "report/calibrate_report.h"
#include "report/json.h"
#include "verbs/command.h"
#include "verbs/data_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"

namespace ounce::verbs {
namespace calibrate_verb {

constexpr std::size_t kShown = 10;

struct Arguments {
  std::string model, output, shard;
  std::vector<std::string> parts;
  std::string merged;
  DataArguments data;
  RuntimeArguments runtime;
  bool json = false, verbose = false;
};

// "2/8": the second of eight.
void read_shard(const std::string& text, CalibrateOptions& options) {
  if (text.empty()) return;
  const char* const end = text.data() + text.size();
  std::uint64_t number = 0, count = 0;
  const auto [slash, failure] = std::from_chars(text.data(), end, number);
  const bool has_slash = failure == std::errc() && slash != end && *slash == '/';
  const auto [rest, second_failure] = std::from_chars(has_slash ? slash + 1 : end, end, count);
  if (!has_slash || second_failure != std::errc() || rest != end || number < 1 || number > count)
    throw Error(ErrorCode::kUsage, fmt::format("--shard '{}' must be I/N with I from 1 to N", text));
  options.shard = number - 1;
  options.shards = count;
}

int show(const Arguments& arguments, Host& host, const CalibrateResult& result) {
  const std::size_t shown = arguments.verbose ? result.values.size() : kShown;
  host.say(for_people(arguments.json), report::calibrate_text(result, shown));
  if (arguments.json) host.say_json(report::dump(report::calibrate_json(result)));
  return 0;
}

int observe(const Arguments& arguments, Host& host, const OwnFiles& own) {
  if (arguments.model.empty()) throw Error(ErrorCode::kUsage, "calibrate: say which model");
  CalibrateOptions options;
  options.data = data_options_of(arguments.data, host.given);
  options.runtime = runtime_options_of(arguments.runtime);
  read_shard(arguments.shard, options);
  std::filesystem::path output = arguments.output;
  if (output.empty()) output = std::filesystem::path(arguments.model).replace_extension(".ranges");
  own.require_apart(output);
  CalibrateResult result;
  {
    const std::unique_ptr<Watch> watch = host.watch(arguments.model);
    options.progress = &watch->progress;
    result = named(arguments.model, [&] { return calibrate(arguments.model, output, options); });
  }
  return show(arguments, host, result);
}

int merge(const Arguments& arguments, Host& host, const OwnFiles& own) {
  own.require_apart(arguments.merged);
  std::vector<std::filesystem::path> parts(arguments.parts.begin(), arguments.parts.end());
  if (is_importance(parts.front())) {
    merge_importance(parts, arguments.merged);
    if (arguments.json)
      host.say_json(report::dump(
          {{"schema_version", report::kSchemaVersion}, {"verb", "calibrate"}, {"output", arguments.merged}}));
    host.say(for_people(arguments.json),
             plainly("{} files of importance in {}\n", parts.size(), arguments.merged));
    return 0;
  }
  return show(arguments, host, merge_ranges(parts, arguments.merged));
}

}  // namespace calibrate_verb

Command add_calibrate(CLI::App& parser) {
  using namespace calibrate_verb;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app = parser.add_subcommand("calibrate",
                                        "what the activations of a model look like on data, for static INT8");
  app->add_option("model", arguments->model, "a model");
  app->add_option("-o,--output", arguments->output,
                  "the file of ranges (default: model.ranges beside the model)");
  app->add_option("--shard", arguments->shard,
                  "I/N: only every N-th sample, beginning with the I-th; 'merge' puts the parts together");
  app->add_option("--batch", arguments->data.batch, "samples in one run")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app->add_flag("--json", arguments->json, "print one JSON document on stdout");
  app->add_flag("-v,--verbose", arguments->verbose, "show every value");
  add_data_options(*app, arguments->data, /*with_contract=*/true, kDataRequired);
  add_runtime_options(*app, arguments->runtime);
  CLI::App* merging =
      app->add_subcommand("merge", "put the parts of a calibration together: the same file as one run gives");
  merging->add_option("part", arguments->parts, "files of ranges")->required();
  merging->add_option("-o,--output", arguments->merged, "the file of ranges")->required();
  merging->add_flag("--json", arguments->json, "print one JSON document on stdout");
  merging->add_flag("-v,--verbose", arguments->verbose, "show every value");
  return {app, [arguments, app, merging](Host& host) {
            arguments->model = one_model(arguments->model).string();
            const OwnFiles own = OwnFiles::of(*app, arguments->data.contract.file);
            return merging->parsed() ? merge(*arguments, host, own) : observe(*arguments, host, own);
          }};
}

}  // namespace ounce::verbs
