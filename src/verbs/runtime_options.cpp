#include "verbs/runtime_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/cpus.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "verbs/json_options.h"

namespace ounce::verbs {
namespace {

constexpr double kGigabyte = 1024.0 * 1024 * 1024;

}  // namespace

void add_isolation_options(Options& options, IsolationArguments& arguments, const std::string& group) {
  options
      .add_flag("--isolate,!--no-isolate", arguments.is_wanted,
                "run models in a process of their own, with limits (the default)")
      ->group(group);
  options
      .add_option("--isolate-memory", arguments.memory,
                  "its address space in GiB (0: as much as the machine has)")
      ->check(number_between(0, 1e6))
      ->show_default()
      ->group(group);
  options
      .add_option("--isolate-seconds", arguments.seconds,
                  "its time for loading and for each run (0: no limit)")
      ->check(number_between(0, 1e9))
      ->show_default()
      ->group(group);
}

std::optional<Isolation> isolation_of(const IsolationArguments& arguments) {
  if (!arguments.is_wanted) return std::nullopt;
  return Isolation{static_cast<std::uint64_t>(arguments.memory * kGigabyte), arguments.seconds};
}

void add_runtime_options(Options& options, RuntimeArguments& arguments) {
  const char* group = "Runtime";
  options
      .add_option("--runtime", arguments.library,
                  "ONNX Runtime: a library's path, or a version (default: the newest)")
      ->group(group);
  options
      .add_option("-x,--threads", arguments.threads, "threads inside an op (0: as many as the runtime likes)")
      ->check(whole_between(0, 1024))
      ->show_default()
      ->group(group);
  options.add_option("-y,--threads-between", arguments.threads_between, "threads for ops side by side")
      ->check(whole_between(1, 1024))
      ->show_default()
      ->group(group);
  options
      .add_option("--optimization", arguments.optimization, "graph optimization: none, basic, extended, all")
      ->check(any_name_of<OptimizationLevel>())
      ->show_default()
      ->group(group);
  options
      .add_option("--session-config", arguments.config,
                  "a session entry KEY=VALUE, such as session.disable_quant_qdq=1 (repeatable)")
      ->one_at_a_time()
      ->group(group);
  add_isolation_options(options, arguments.isolation, group);
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

void add_remote_options(Options& options, RemoteArguments& arguments) {
  const char* group = "Elsewhere";
  Remote& remote = arguments.remote;
  options
      .add_option("--via", remote.via,
                  "run models on another machine: the command that runs a shell command there, such as 'ssh "
                  "board' or 'adb shell'")
      ->group(group);
  options
      .add_option("--launcher", remote.launcher,
                  "what starts the runner (there): 'qemu-aarch64 -L /usr/aarch64-linux-gnu'")
      ->group(group);
  options
      .add_option("--runner", arguments.runner,
                  "the runner for that machine, a file here (default: ounce-runner or ounce-runner-arm64)")
      ->group(group);
  options
      .add_option("--runtime-there", remote.library,
                  "ONNX Runtime for that machine: a library here, or a version (default: the newest)")
      ->group(group);
  options
      .add_option("--folder-there", remote.folder,
                  "where the runner, the library and models go (default: a folder of ours in /tmp)")
      ->group(group);
  options.add_flag("--keep-there", remote.keep, "leave models there, so that they are not sent again")
      ->group(group);
  options.add_option("--seconds-there", remote.seconds, "time for each answer, and for sending each file")
      ->check(number_between(0.1, 1e6))
      ->show_default()
      ->group(group);
}

std::optional<Remote> remote_of(const RemoteArguments& arguments) {
  Remote remote = arguments.remote;
  remote.runner = arguments.runner;
  if (!remote.via.empty() || !remote.launcher.empty() || !remote.runner.empty()) return remote;
  if (remote.library.empty() && remote.folder.empty() && !remote.keep) return std::nullopt;
  throw Error(ErrorCode::kUsage, "there is no machine: `--via` or `--launcher` says where models run");
}

void add_cpu_option(Options& options, std::string& on, const char* help) {
  options.add_option("--on", on, help)->joined("CPU");
}

std::vector<std::string> cpus_of(const std::string& on) {
  if (on == "auto") return other_cpus();
  std::vector<std::string> cpus;
  std::istringstream names(on == "none" ? "" : on);
  for (std::string name; std::getline(names, name, ',');) {
    const std::vector<std::string> known = known_cpus();
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("`--on` '{}' is no CPU that models can be run on: there are {}", name,
                              fmt::join(known, ", ")));
    cpus.push_back(name);
  }
  return cpus;
}

std::string usual_cpus() {
  const char* const usual = std::getenv("OUNCE_ON");
  return usual == nullptr || *usual == '\0' ? "auto" : usual;
}

}  // namespace ounce::verbs
