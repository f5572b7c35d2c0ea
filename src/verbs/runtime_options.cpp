#include "verbs/runtime_options.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "verbs/names_of.h"
#include "verbs/recipe_options.h"

namespace ounce::verbs {
namespace {

constexpr double kGigabyte = 1024.0 * 1024 * 1024;

}  // namespace

std::pair<std::string, std::string> split_pair(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw Error(ErrorCode::kUsage, fmt::format("{} '{}' must be NAME=VALUE", option, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_isolation_options(CLI::App& app, IsolationArguments& arguments, const std::string& group) {
  app.add_flag("--isolate,!--no-isolate", arguments.is_wanted,
               "run models in a process of their own, with limits (the default)")
      ->group(group);
  app.add_option("--isolate-memory", arguments.memory,
                 "its address space in GiB (0: as much as the machine has)")
      ->check(number_between(0, 1e6))
      ->capture_default_str()
      ->group(group);
  app.add_option("--isolate-seconds", arguments.seconds,
                 "its time for loading and for each run (0: no limit)")
      ->check(number_between(0, 1e9))
      ->capture_default_str()
      ->group(group);
}

std::optional<Isolation> isolation_of(const IsolationArguments& arguments) {
  if (!arguments.is_wanted) return std::nullopt;
  return Isolation{static_cast<std::uint64_t>(arguments.memory * kGigabyte), arguments.seconds};
}

void add_runtime_options(CLI::App& app, RuntimeArguments& arguments) {
  const char* group = "Runtime";
  app.add_option("--runtime", arguments.library,
                 "ONNX Runtime: a library's path, or a version (default: the newest)")
      ->group(group);
  app.add_option("-x,--threads", arguments.threads, "threads inside an op (0: as many as the runtime likes)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->group(group);
  app.add_option("-y,--threads-between", arguments.threads_between, "threads for ops side by side")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->group(group);
  app.add_option("--optimization", arguments.optimization, "graph optimization: none, basic, extended, all")
      ->check(any_name_of<OptimizationLevel>())
      ->capture_default_str()
      ->group(group);
  app.add_option("--session-config", arguments.config,
                 "a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (repeatable)")
      ->allow_extra_args(false)
      ->group(group);
  add_isolation_options(app, arguments.isolation, group);
}

RuntimeOptions runtime_options_of(const RuntimeArguments& arguments) {
  RuntimeOptions options;
  options.library = arguments.library;
  options.threads = arguments.threads;
  options.threads_between = arguments.threads_between;
  options.optimization = value_of<OptimizationLevel>(arguments.optimization);
  for (const std::string& entry : arguments.config)
    options.config.insert(split_pair(entry, "--session-config"));
  options.isolate = isolation_of(arguments.isolation);
  return options;
}

}  // namespace ounce::verbs
