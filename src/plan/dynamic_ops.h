// Which ops gain by dynamic arithmetic: products and LSTMs. Conv has a kernel too (find_dynamic_op), which is
// slower than the one for floats.
#pragma once

#include <string_view>

namespace ounce::plan {

bool gains_by_dynamic(std::string_view op_type);

}  // namespace ounce::plan
