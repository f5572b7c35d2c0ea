// Makes all small changes of a file: each bit flipped, and each truncation.
#pragma once

#include <string>

namespace ounce::test {

template <class Action>
void for_every_damage(const std::string& bytes, Action&& action) {
  std::string damaged = bytes;
  for (char& byte : damaged) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      action(damaged);
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) action(bytes.substr(0, size));
}

}  // namespace ounce::test
