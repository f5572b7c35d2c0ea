// What decoding texts showed, for people and for programs.
#pragma once

#include <ounce/decode.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ounce::report {

std::string decode_text(const DecodeReport& report);
nlohmann::ordered_json decode_json(const DecodeReport& report, const char* verb);

}  // namespace ounce::report
