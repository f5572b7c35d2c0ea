// The options of every verb that runs models: which ONNX Runtime, and how.
#pragma once

#include <ounce/runtime.h>

#include <optional>
#include <string>
#include <vector>

#include "verbs/options.h"

namespace ounce::verbs {

// The process that a model runs in.
struct IsolationArguments {
  bool is_wanted = true;
  double memory = 0, seconds = 120;
};

struct RuntimeArguments {
  std::string library, optimization = "all";
  unsigned threads = 1, threads_between = 1;
  std::vector<std::string> config;
  IsolationArguments isolation;
};

void add_isolation_options(Options& options, IsolationArguments& arguments, const std::string& group);
std::optional<Isolation> isolation_of(const IsolationArguments& arguments);

void add_runtime_options(Options& options, RuntimeArguments& arguments);
RuntimeOptions runtime_options_of(const RuntimeArguments& arguments);

// The options of a verb that runs models on another machine, or in another architecture under an emulator.

struct RemoteArguments {
  Remote remote;
  std::string runner;
};

void add_remote_options(Options& options, RemoteArguments& arguments);
// Nothing when models run here. Throws Error{kUsage} for options that mean nothing without the others.
std::optional<Remote> remote_of(const RemoteArguments& arguments);

// --on: the other CPUs that a model is run on.

void add_cpu_option(Options& options, std::string& on, const char* help);

// "auto": all that can be shown here, "none", or names with commas between. Throws Error{kUsage} for others.
std::vector<std::string> cpus_of(const std::string& on);

// "auto", or what the environment variable OUNCE_ON says.
std::string usual_cpus();

}  // namespace ounce::verbs
