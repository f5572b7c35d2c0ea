#include <fmt/format.h>
#include <ounce/app.hpp>

#include <algorithm>
#include <memory>

#include "io/output_file.h"
#include "report/reports.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace unpack_verb {

constexpr double kMegabyte = 1024.0 * 1024;

struct Arguments {
  std::vector<std::string> models;
  std::string cache;
  app::UnpackOptions options;
  double max_megabytes = 0;
  bool json = false;
};

int run(Arguments& arguments, Host& host, const Options& verb) {
  app::UnpackOptions& options = arguments.options;
  options.max_bytes = static_cast<std::uint64_t>(arguments.max_megabytes * kMegabyte);
  const Stream human = for_people(arguments.json);
  report::Failure no_place;  // why the cache folder cannot be written
  guarded(
      arguments.cache, [&] { io::require_folder_place(arguments.cache); }, no_place);
  const std::vector<ModelFile> models = find_models(arguments.models);
  const auto refusals = refused<report::UnpackRow>(models, verb);
  const auto [rows, worst] = each_row<report::UnpackRow>(
      models, refusals, host,
      [&](report::UnpackRow& row, const ModelFile&) {
        if (no_place.empty()) {
          const std::unique_ptr<Watch> watch = host.watch(row.model.string());
          watch->progress.stage = "unpack";
          options.progress = [&](double) { return !watch->progress.is_stopped(); };
          row.result = app::unpack(row.model, arguments.cache, options);
        } else {
          row.result.model = row.model;
          row.result.why_not = no_place.message;
          row.result.status = app::Status::kIo;
        }
        if (row.result.file.empty())
          row.exit_code =
              exit_code(row.result.status == app::Status::kIo ? ErrorCode::kIo : ErrorCode::kUnsupported);
      },
      [&](const report::UnpackRow& row, bool) {
        if (row.exit_code == exit_code(ErrorCode::kIo)) {
          host.complain(fmt::format("{}: {}", row.model.string(), row.result.why_not));
        } else {
          host.say(human, report::unpack_text(row));
        }
      });
  if (rows.size() > 1 && refusals.rows.empty())
    host.say(human, fmt::format("\n{}", report::unpack_table(rows)));
  deliver(results::Document("unpack").add(rows), arguments.json, verb, host);
  return worst;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.models, "Models, or folders of models")->required();
  options
      .add_option("--cache", arguments.cache, "Write to this cache folder, from which the app loads models")
      ->required();
  options.add_option("--runtime", arguments.options.library,
                     "Use this ONNX Runtime: the path of a library, or a version (default: the newest)");
  options.add_list(
      "--session-config",
      "Add an entry to the session options, as the app sets it, as NAME=VALUE (repeatable). Example: "
      "session.disable_quant_qdq=1",
      [&config = arguments.options.config](const std::string& word) {
        config.insert(split_pair(word, "--session-config"));
      });
  options
      .add_option("--max-cache", arguments.max_megabytes,
                  "Limit the size of the cache folder in MiB; the least recently used files are removed (0: "
                  "no limit)")
      ->check(number_between(0, 1e9))
      ->show_default();
  options.add_flag("--isolate,!--no-isolate", arguments.options.uses_runner,
                   "Run in a separate process with limits (default: on)");
  options
      .add_option("--isolate-seconds", arguments.options.seconds,
                  "Limit the time of the separate process, in seconds (0: no limit)")
      ->check(number_between(0, 1e9))
      ->show_default();
  add_json_option(options, arguments.json);
}

constexpr std::string_view kExamples[] = {"ounce unpack model.w8.onnx --cache cache/"};

}  // namespace unpack_verb

extern constinit const VerbInfo kUnpack = {
    .name = "unpack",
    .summary = "Precompile models for this device so that apps can memory-map them",
    .examples = unpack_verb::kExamples,
    .call = call_of<unpack_verb::Arguments, unpack_verb::declare, unpack_verb::run>,
    .result = "UnpackResult",
};

}  // namespace ounce::verbs
