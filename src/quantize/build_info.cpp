#include <fmt/format.h>
#include <ounce/error.h>

#include <climits>

#include "kernels/affine.h"

namespace ounce {
namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "another compiler";
#endif
}

// Version of the headers at compile time: the oldest C library that the programs run with.
std::string c_library() {
#if defined(__GLIBC__)
  return fmt::format("glibc {}.{}", __GLIBC__, __GLIBC_MINOR__);
#else
  return "another C library";
#endif
}

}  // namespace

BuildInfo build_info() {
  return {version(), OUNCE_COMMIT, compiler(), c_library(), kernels::built_targets()};
}

}  // namespace ounce
