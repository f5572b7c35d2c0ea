#pragma once

namespace ounce {

const char* version() noexcept;

}  // namespace ounce
