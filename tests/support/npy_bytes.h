// Test support: a .npy file of floats, [samples, width].
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/model_builder.h"

namespace ounce::search::test {

inline std::string npy_bytes(std::size_t samples, std::size_t width, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(samples) +
                       ", " + std::to_string(width) + "), }";
  header.resize(117, ' ');
  header += '\n';
  const std::string magic("\x93NUMPY\x01\x00\x76\x00", 10);  // 118 bytes of header follow
  return magic + header + ounce::test::raw_floats(values);
}

}  // namespace ounce::search::test
