// The results of calibrate, for people and for programs.
#pragma once

#include <ounce/calibrate.h>

#include <string>

namespace ounce::report {

// The values that 8 bits would hurt most come first; at most so many.
std::string calibrate_text(const CalibrateResult& result, std::size_t at_most);

}  // namespace ounce::report
