// Test support: changes some bytes of a model. The result is another model or invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/numbers.h"

namespace ounce::test {

inline std::string mutated(std::string bytes, Random& random) {
  for (std::uint64_t changes = 1 + random.bits() % 3; changes != 0; --changes) {
    const std::size_t at = random.bits() % bytes.size();
    switch (random.bits() % 4) {
      case 0: bytes[at] = static_cast<char>(random.bits()); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] + (random.bits() % 2 == 0 ? 1 : -1)); break;
      // Replace a name with another of the same length, so that nodes read each other's values.
      default: bytes[at] = bytes[random.bits() % bytes.size()];
    }
  }
  return bytes;
}

}  // namespace ounce::test
