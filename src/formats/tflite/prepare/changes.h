// The changes of a pass, and the nodes that it left unchanged, for the notes of prepare().
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ounce::tflite {

struct Changes {
  struct Left {
    std::size_t count = 0;
    std::string first;  // one of them, as named in messages
  };

  std::size_t count = 0;
  std::map<std::string, Left> left;  // by the reason

  void leave(const std::string& reason, const std::string& what) {
    Left& entry = left[reason];
    if (entry.count++ == 0) entry.first = what;
  }
};

}  // namespace ounce::tflite
