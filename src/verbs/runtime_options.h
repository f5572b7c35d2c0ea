// The options of every verb that runs models: which ONNX Runtime, and how.
#pragma once

#include <ounce/runtime.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

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

void add_isolation_options(CLI::App& app, IsolationArguments& arguments, const std::string& group);
std::optional<Isolation> isolation_of(const IsolationArguments& arguments);

void add_runtime_options(CLI::App& app, RuntimeArguments& arguments);
RuntimeOptions runtime_options_of(const RuntimeArguments& arguments);

// "key=value". Throws Error{kUsage}; `option` names the option.
std::pair<std::string, std::string> split_pair(const std::string& text, const char* option);

}  // namespace ounce::verbs
