// Values that an option takes as text. `option` names the option in the message. All throw Error{kUsage}.
#pragma once

#include <nlohmann/json.hpp>
#include <ounce/tune.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verbs/verb.h"

namespace ounce::verbs {

// "0.0039" or "1/255".
double fraction_of(const std::string& text, const char* option);
// "0.5%" or "0.005". A number without a percent sign above `largest_bare` is one whose sign was forgotten.
double share_of(const std::string& text, const char* option, double largest_bare);
// "0.485,0.456,0.406", each as fraction_of() reads it.
std::vector<double> numbers_of(const std::string& text, const char* option);
// 1 or more.
std::int64_t whole_of(std::string_view text, const char* option);
// "2/8": the second of eight, as {1, 8}.
std::pair<std::uint64_t, std::uint64_t> part_of(const std::string& text, const char* option);
// "key=value".
std::pair<std::string, std::string> split_pair(const std::string& text, const char* option);
// Seconds: "90s", "10m", "1.5h", or a bare number.
double duration_of(const std::string& text, const char* option);
// A time, or "40 models".
Budget budget_of(const std::string& text, const char* option);

// Options as JSON, for programs that call a verb without a command line: names as the command line has them,
// with dashes or underscores.
//
//   read_json(call->options, {{"model", "a.onnx"}, {"rescale", "1/255"}, {"output", "b.onnx"}});
//
// A flag is true or false, an option that may be given several times or takes several values with commas is a
// list, NAME=VALUE pairs are an object, and null says nothing.

// Reads, checks and sets them. Throws Error{kUsage} for names that the verb does not know, for values that an
// option does not take, and for options that are missing or exclude each other.
void read_json(Options& options, const nlohmann::ordered_json& json);

// {"verb", "help", "result", "verbs", "options": [{"name", "kind", …}]}: see docs/c-api.md.
nlohmann::ordered_json describe(const VerbInfo& verb, const std::string& name);

}  // namespace ounce::verbs
