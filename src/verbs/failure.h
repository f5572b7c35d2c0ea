// Whatever was thrown, as one line for a person and an exit code.
//
//   try { … } catch (...) { const Failure failure = current_failure(); … }
#pragma once

#include <string>

#include "report/option_words.h"

namespace ounce::verbs {

// For those who call the verbs without a command line.
using report::NamesParameters;

struct Failure {
  int exit_code = 0;
  std::string message;
};

// Only while an exception is being handled.
Failure current_failure();

}  // namespace ounce::verbs
