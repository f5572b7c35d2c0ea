// A word of the command line that stands where a model is expected, and is none: what was it meant as?
//
//   ounce quantize m.onnx --std .247 .2435 .2616    two numbers of --std
//   ounce quantize m.onnx out.onnx                  the name of the result
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ounce::verbs {

// A sentence to put behind an error about `word`, with what to write instead; empty when nothing is known.
std::string hint_for_word(const CLI::App& verb, const std::string& word);

}  // namespace ounce::verbs
