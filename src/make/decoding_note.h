// What is said of a model that decodes weights at every run. Shapes alone decide how many it decodes, so that
// the same options give the same bytes on every machine; a timing only says how that went on this one.
#pragma once

#include <ounce/quantize.h>

#include <string>

namespace ounce::make {

// Empty unless decoding surely took more of a run than Recipe::decode_share.
std::string decoding_note(const Recipe& recipe, const TrialResult& trial);

}  // namespace ounce::make
