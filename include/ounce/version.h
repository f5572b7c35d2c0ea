#pragma once

#include <string>
#include <vector>

namespace ounce {

const char* version() noexcept;

// How this library was built, for bug reports.
struct BuildInfo {
  std::string version;               // "0.1.0"
  std::string commit;                // of the sources; empty if the build did not record it
  std::string compiler;              // "GCC 12.2.0"
  std::string c_library;             // oldest supported version: "glibc 2.28"
  std::vector<std::string> kernels;  // instruction sets with their own kernels, best first
};
BuildInfo build_info();

}  // namespace ounce
