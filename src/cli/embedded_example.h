// The voice-command model of examples/commands, inside the program.
#pragma once

#include <string_view>

namespace ounce::cli {

std::string_view embedded_model();

}  // namespace ounce::cli
