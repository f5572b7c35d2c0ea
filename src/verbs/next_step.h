// The command that usually follows a run, ready to paste: the `Next:` line, and `next` of the JSON document.
//
//   next_command(options, document)      // "ounce verify m.onnx m.w8.onnx --data val.npz"
//
// A table has a row per verb and outcome; the first row that applies is used. A verb without a row, and a run
// without a result, have no next command.
#pragma once

#include <string>

#include "results/results.h"
#include "verbs/options.h"

namespace ounce::verbs {

// `options` are those of the run; `document` is its JSON document. Empty: there is none.
std::string next_command(const Options& options, const results::Json& document);

// Returns the options of this command line that describe data, as words: {"--data", "val.npz"}.
std::vector<std::string> data_words(const Options& options, bool with_preprocessing = true);

}  // namespace ounce::verbs
