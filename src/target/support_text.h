// The text of the support matrix, as the assembler put it into this program.
#pragma once

#include <string_view>

namespace ounce::target {

std::string_view support_text();

}  // namespace ounce::target
