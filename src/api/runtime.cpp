#include <ounce/runtime.h>

#include "runtime/library.h"

namespace ounce {

bool has_runtime() noexcept { return true; }

std::vector<std::string> installed_runtimes() { return runtime::Library::installed_versions(); }

}  // namespace ounce
