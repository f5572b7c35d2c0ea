// What people say of layers (the first and the last are sensitive, attention is), told only where the
// measurements of this model say so.
#pragma once

#include <ounce/sensitivity.h>

#include <string>
#include <vector>

namespace ounce::search {

// Of a result whose groups are measured and stand worst first.
std::vector<std::string> find_findings(const SensitivityResult& result);

}  // namespace ounce::search
