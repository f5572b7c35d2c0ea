// The memory that a model takes when it is loaded.
#pragma once

#include <cstdint>

namespace ounce {

// Resident bytes of a new process, in addition to those before the model was loaded.
struct LoadMemory {
  std::uint64_t peak = 0;   // peak while the session is created
  std::uint64_t stays = 0;  // after the session is created
};

}  // namespace ounce
