// Options as JSON, for programs that call a verb without a command line: names as the command line has them,
// with dashes or underscores.
//
//   read_json(call->options, {{"model", "a.onnx"}, {"rescale", "1/255"}, {"output", "b.onnx"}});
//
// A flag is true or false, an option that may be given several times or takes several values with commas is a
// list, NAME=VALUE pairs are an object, and null says nothing.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "verbs/verb.h"

namespace ounce::verbs {

// Reads, checks and sets them. Throws Error{kUsage} for names that the verb does not know, for values that an
// option does not take, and for options that are missing or exclude each other.
void read_json(Options& options, const nlohmann::ordered_json& json);

// {"verb", "help", "result", "verbs", "options": [{"name", "kind", …}]}: see docs/reference/c-api.md.
nlohmann::ordered_json describe(const VerbInfo& verb, const std::string& name);

}  // namespace ounce::verbs
