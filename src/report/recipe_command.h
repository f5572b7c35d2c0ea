// A statement as the command lines that replay it by hand.
#pragma once

#include <ounce/prove.h>

#include <string>

namespace ounce::report {

// "ounce quantize SOURCE -o OUT --to static --no-search …": where the files are nobody knows but the user.
std::string making_command(const Statement& statement);
// "ounce verify SOURCE MODEL --data DATA --max-drop 1% …"; empty when no gate was stated.
std::string judging_command(const Statement& statement);

}  // namespace ounce::report
