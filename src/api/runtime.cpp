#include <ounce/runtime.h>

#include "runtime/library.h"

namespace ounce {

std::vector<std::string> installed_runtimes() { return runtime::Library::installed_versions(); }

}  // namespace ounce
