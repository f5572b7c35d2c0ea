// Colours for a terminal: what passed, what failed, what is only a remark. Colours repeat what words say.
#pragma once

#include <string>

namespace ounce::cli {

// May this stream be coloured? A terminal, unless NO_COLOR is set (to anything) or TERM is "dumb".
bool takes_colour(int descriptor);

// Lines of ours with the words that decide in colour.
std::string painted(const std::string& text);
std::string painted_complaint(const std::string& line);  // "ounce: …"

}  // namespace ounce::cli
