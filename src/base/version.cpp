#include <ounce/error.h>

namespace ounce {

const char* version() noexcept { return OUNCE_VERSION; }

}  // namespace ounce
