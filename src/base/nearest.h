// "Did you mean …?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ounce {

// The candidate that is a typing error away from `word`; empty when none is that near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ounce
