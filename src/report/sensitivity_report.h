// The results of sensitivity, for people and for programs.
#pragma once

#include <ounce/sensitivity.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using SensitivityRow = Row<SensitivityResult>;

std::string sensitivity_text(const SensitivityResult& result, double min_sqnr);

}  // namespace ounce::report
