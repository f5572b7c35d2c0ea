#include <fmt/format.h>
#include <ounce/app/unpack.h>

#include <algorithm>
#include <memory>

#include "io/folder.h"
#include "report/reports.h"
#include "verbs/json_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace unpack_verb {

constexpr double kMegabyte = 1024.0 * 1024;

struct Arguments {
  std::vector<std::string> models, config;
  std::string cache, library;
  double max_megabytes = 0, seconds = app::UnpackOptions{}.seconds;
  bool in_runner = true, json = false;
};

app::UnpackOptions options_of(const Arguments& arguments) {
  app::UnpackOptions options;
  options.library = arguments.library;
  for (const std::string& entry : arguments.config)
    options.config.insert(split_pair(entry, "--session-config"));
  options.uses_runner = arguments.in_runner;
  options.seconds = arguments.seconds;
  options.max_bytes = static_cast<std::uint64_t>(arguments.max_megabytes * kMegabyte);
  return options;
}

int run(const Arguments& arguments, Host& host, const Options& verb) {
  app::UnpackOptions options = options_of(arguments);
  const Stream human = for_people(arguments.json);
  report::Failure no_place;  // why no file can be made in the folder
  guarded(
      arguments.cache, [&] { io::require_folder_place(arguments.cache); }, no_place);
  std::vector<ModelFile> models = find_models(arguments.models);
  auto [rows, worst] = refused<report::UnpackRow>(models, verb);
  if (!rows.empty()) models.clear();  // then nothing is worked on
  for (const report::UnpackRow& row : rows) host.complain(row.error.message);
  for (const ModelFile& model : models) {
    report::UnpackRow row;
    row.model = model.path;
    row.exit_code = guarded(
        model.path,
        [&] {
          if (!no_place.empty()) {
            row.result.model = model.path;
            row.result.why_not = no_place.message;
            row.result.status = app::Status::kIo;
            return;
          }
          const std::unique_ptr<Watch> watch = host.watch(model.path.string());
          watch->progress.stage = "unpack";
          options.progress = [&](double) { return !watch->progress.is_stopped(); };
          row.result = app::unpack(model.path, arguments.cache, options);
        },
        row.error);
    const bool is_refused = row.error.empty() && row.result.file.empty();
    const bool is_io = is_refused && row.result.status == app::Status::kIo;
    if (is_refused) row.exit_code = exit_code(is_io ? ErrorCode::kIo : ErrorCode::kUnsupported);
    worst = std::max(worst, row.exit_code);
    if (is_io) {
      host.complain(fmt::format("{}: {}", row.model.string(), row.result.why_not));
    } else if (row.error.empty()) {
      host.say(human, report::unpack_text(row));
    } else {
      host.complain(row.error.message);
    }
    rows.push_back(std::move(row));
  }
  if (rows.size() > 1 && !models.empty()) host.say(human, fmt::format("\n{}", report::unpack_table(rows)));
  if (arguments.json) print_document(results::Document("unpack").add(rows), verb, host);
  return worst;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.models, "models, or folders of models")->required();
  options.add_option("--cache", arguments.cache, "the folder that the app loads from")->required();
  options.add_option("--runtime", arguments.library,
                     "ONNX Runtime: a library's path, or a version (default: the newest)");
  options
      .add_option(
          "--session-config", arguments.config,
          "NAME=VALUE: an entry of the runtime's session options, as the app will have it (repeatable)")
      ->one_at_a_time();
  options
      .add_option("--max-cache", arguments.max_megabytes,
                  "MiB that the folder may take: what was used longest ago is removed (0: any)")
      ->check(number_between(0, 1e9))
      ->show_default();
  options.add_flag("--isolate,!--no-isolate", arguments.in_runner,
                   "do it in a process of its own, with limits (the default)");
  options.add_option("--isolate-seconds", arguments.seconds, "its time (0: no limit)")
      ->check(number_between(0, 1e9))
      ->show_default();
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
}

constexpr std::string_view kExamples[] = {"ounce unpack model.w8.onnx --cache cache/"};

}  // namespace unpack_verb

extern constinit const VerbInfo kUnpack = {
    .name = "unpack",
    .summary =
        "decode and optimise models once for this machine, so that an app loads them at once and in no heap",
    .examples = unpack_verb::kExamples,
    .call = call_of<unpack_verb::Arguments, unpack_verb::declare, unpack_verb::run>,
    .result = "UnpackResult",
};

}  // namespace ounce::verbs
