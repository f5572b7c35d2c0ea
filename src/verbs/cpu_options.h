// --on: the other CPUs that a model is run on.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ounce::verbs {

void add_cpu_option(CLI::App& app, std::string& on, const char* help);

// "auto": all that can be shown here, "none", or names with commas between. Throws Error{kUsage} for others.
std::vector<std::string> cpus_of(const std::string& on);

// "auto", or what the environment variable OUNCE_ON says.
std::string usual_cpus();

}  // namespace ounce::verbs
