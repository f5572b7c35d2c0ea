// The options of a verb as JSON, for whoever calls it without a command line: names as the command line has
// them, with dashes or underscores.
//
//   arguments_of(parser, "contract set", {{"model", "a.onnx"}, {"rescale", "1/255"}, {"output", "b.onnx"}});
//       →  contract set --rescale=1/255 --output=b.onnx -- a.onnx
//
// A flag is true or false, what may be given several times or takes several values with commas is a list,
// NAME=VALUE pairs are an object, and null says nothing.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ounce::verbs {

// The verb of this name, with blanks between its words. Throws Error{kUsage} that guesses what was meant.
CLI::App& find_verb(CLI::App& parser, const std::string& verb);

// Throws Error{kUsage} for names that the verb does not know, and for values that no option takes.
std::vector<std::string> arguments_of(CLI::App& parser, const std::string& verb,
                                      const nlohmann::ordered_json& options);

}  // namespace ounce::verbs
