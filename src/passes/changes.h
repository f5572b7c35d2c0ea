// What a pass did, and what it looked at and left alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ounce::passes {

// Why something that looks like work is left as it is.
struct Reason {
  std::string text;
};

struct Changes {
  std::size_t count = 0;                // places changed
  std::vector<std::string> left_alone;  // "node 'bn': its variance is negative"
};

}  // namespace ounce::passes
