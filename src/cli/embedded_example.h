// The voice-command model of examples/commands and 64 of its validation clips, inside the program.
#pragma once

#include <string_view>

namespace ounce::cli {

std::string_view embedded_model();
std::string_view embedded_data();  // .npz: audio int16 [64, 8000] at 8 kHz, label

}  // namespace ounce::cli
