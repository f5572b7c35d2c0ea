// The results of check, for people and for programs.
#pragma once

#include <ounce/check.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using CheckRow = Row<CheckReport>;

std::string check_text(const CheckReport& report);

}  // namespace ounce::report
