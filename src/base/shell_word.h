// A word as a shell takes it, for command lines that people paste.
#pragma once

#include <string>

namespace ounce {

// As it is if it is plain, else in single quotes.
std::string quoted(const std::string& word);

}  // namespace ounce
