// Reads the options of a verb from JSON, for programs that call a verb without a command line. The names are
// those of the command line, with dashes or underscores.
//
//   read_json(call->options, {{"model", "a.onnx"}, {"rescale", "1/255"}, {"output", "b.onnx"}});
//
// Values: true or false for a flag, a list for a repeatable option or one with several values, an object for
// NAME=VALUE pairs. null leaves an option unset.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "verbs/verb.h"

namespace ounce::verbs {

// Validates and sets the options. Throws Error{kUsage} for unknown names, invalid values, missing required
// options, and options that exclude each other.
void read_json(Options& options, const nlohmann::ordered_json& json);

// Describes a verb as {"verb", "help", "result", "verbs", "options": [{"name", "kind", …}]}: see
// docs/reference/c-api.md.
nlohmann::ordered_json describe(const VerbInfo& verb, const std::string& name);

}  // namespace ounce::verbs
