// The command line that a verb was called with, as people paste it into a shell: however it was called, and
// with the options of a configuration file in their places.
#pragma once

#include <CLI/CLI.hpp>
#include <ounce/tune.h>

#include <string>

#include "report/option_words.h"

namespace ounce::verbs {

// Without --json, which changes nothing but what is printed.
std::string command_line(const CLI::App& verb);

// Whatever was thrown, as one line for a person and an exit code.
//
//   try { … } catch (...) { const Failure failure = current_failure(); … }

// For those who call the verbs without a command line.
using report::NamesParameters;

struct Failure {
  int exit_code = 0;
  std::string message;
};

// Only while an exception is being handled.
Failure current_failure();

// How long something may take, on the command line: "90s", "10m", "1.5h", or a bare number of seconds; and
// where that is said, "40 models".

// Seconds. Throws Error{kUsage} that names the option.
double duration_of(const std::string& text, const char* option);

// A time or a number of models. Throws Error{kUsage} that names the option.
Budget budget_of(const std::string& text, const char* option);

}  // namespace ounce::verbs
