// A bool in memory is 0 or 1. A file may hold any byte, and every byte but 0 means true.
#pragma once

#include <string>

namespace ounce::data {

inline void make_bools_valid(std::string& bytes) {
  for (char& byte : bytes) byte = byte != 0 ? '\1' : '\0';
}

}  // namespace ounce::data
