#pragma once

#include "base/descriptor.h"

namespace ounce::io {

using ounce::Descriptor;

}  // namespace ounce::io
