// The result of diff, for people and for programs.
#pragma once

#include <ounce/diff.h>

#include <string>

namespace ounce::report {

// `at_most` lines of each kind of change.
std::string diff_text(const DiffResult& result, std::size_t at_most);

}  // namespace ounce::report
