#pragma once

#include <string>
#include <vector>

namespace ounce {

const char* version() noexcept;

// How this library was built: what a bug report needs.
struct BuildInfo {
  std::string version;               // "0.1.0"
  std::string commit;                // of the sources; empty when the build was not told
  std::string compiler;              // "GCC 12.2.0"
  std::string c_library;             // "glibc 2.28": what it needs, or newer
  std::vector<std::string> kernels;  // instruction sets that there are kernels for, best first
};
BuildInfo build_info();

}  // namespace ounce
