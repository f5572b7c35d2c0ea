// All that the program prints goes through here. Nothing of it can do anything to a terminal, whoever wrote
// the names in it, and a stream that is closed or full is no reason to fall over: the exit code of a result
// that could not be printed is main's business.
//
//   say(stdout, report::tune_text(result));
//   say(human, plainly("{}: {} samples\n", model, samples));
#pragma once

#include <cstdio>
#include <string>

#include "report/plainly.h"

namespace ounce::verbs {

using report::plainly;

// Lines of ours; what names were put into them with plainly() are on their line already.
void say(std::FILE* out, const std::string& text);
// A document on stdout, as exact as it is.
void say_json(const std::string& document);
// "ounce: …" on stderr: one line, whatever is in it.
void complain(const std::string& what);
// On stderr, in place of the line that the cursor is in.
void say_over(const std::string& text);

}  // namespace ounce::verbs
