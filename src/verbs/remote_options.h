// The options of a verb that runs models on another machine, or in another architecture under an emulator.
#pragma once

#include <ounce/runtime.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace ounce::verbs {

struct RemoteArguments {
  Remote remote;
  std::string runner;
};

void add_remote_options(CLI::App& app, RemoteArguments& arguments);
// Nothing when models run here. Throws Error{kUsage} for options that mean nothing without the others.
std::optional<Remote> remote_of(const RemoteArguments& arguments);

}  // namespace ounce::verbs
