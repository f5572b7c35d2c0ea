// What decoding texts showed, for people and for programs.
#pragma once

#include <ounce/decode.h>

#include <string>

namespace ounce::report {

std::string decode_text(const DecodeReport& report);

}  // namespace ounce::report
