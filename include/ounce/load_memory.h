// What loading a model takes.
#pragma once

#include <cstdint>

namespace ounce {

// Resident bytes of a new process, beyond what it had with the runtime's library open.
struct LoadMemory {
  std::uint64_t peak = 0;   // at most, until the session is there
  std::uint64_t stays = 0;  // then
};

}  // namespace ounce
