// One line for a command line that does not parse, with a guess at what was meant.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ounce::verbs {

// What may have been meant: a typing error, or the end of a longer name (--output of --label-output). Empty
// for no idea.
std::string guess_of(std::string_view word, const std::vector<std::string>& known);

// The message, and the guess if there is one.
std::string with_guess(const std::string& message, const std::string& guess);

// `words` are those behind the program's name.
std::string explain(const CLI::ParseError& error, const CLI::App& parser,
                    const std::vector<std::string>& words);

// A word of the command line that stands where a model is expected, and is none: what was it meant as?
//
//   ounce quantize m.onnx --std .247 .2435 .2616    two numbers of --std
//   ounce quantize m.onnx out.onnx                  the name of the result

// A sentence to put behind an error about `word`, with what to write instead; empty when nothing is known.
std::string hint_for_word(const CLI::App& verb, const std::string& word);

}  // namespace ounce::verbs
