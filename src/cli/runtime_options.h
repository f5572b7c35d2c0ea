// The options of every verb that runs models: which ONNX Runtime, and how.
#pragma once

#include <ounce/runtime.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ounce::cli {

struct RuntimeArguments {
  std::string library, optimization = "all";
  unsigned threads = 1, threads_between = 1;
  std::vector<std::string> config;
  bool isolate = false;
  double memory = 8, seconds = 120;
};

void add_runtime_options(CLI::App& app, RuntimeArguments& arguments);
RuntimeOptions runtime_options_of(const RuntimeArguments& arguments);

// "key=value". Throws Error{kUsage}; `option` names the option.
std::pair<std::string, std::string> split_pair(const std::string& text, const char* option);

}  // namespace ounce::cli
