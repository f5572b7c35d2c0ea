// The last step before a written model gets its name: it is loaded in the runtime, in a process of its own,
// and its outputs are compared with the original's.
#pragma once

#include <ounce/quantize.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "passes/integer_ports.h"

namespace ounce::make {

// Files that have no names yet.
struct WrittenFiles {
  std::filesystem::path model;                             // opens in any process of this user
  std::map<std::string, std::filesystem::path> stand_ins;  // external data, by location
  std::filesystem::path name;                              // for people
  std::vector<passes::Port> ports = {};                    // inputs and outputs that are integers
};

// Throws Error{kUnsupported} when the original does not load, or when the written model is another one on
// another CPU, and Error{kInternal} when the written model
// does not load, does not run or gives NaN where the original gives numbers. When nothing could be tried, the
// result says why.
TrialResult try_model(const std::filesystem::path& original, const WrittenFiles& written,
                      std::uint64_t original_bytes, const TrialOptions& options);

}  // namespace ounce::make
