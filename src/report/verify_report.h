// The results of verify, for people and for programs.
#pragma once

#include <ounce/verify.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using VerifyRow = Row<VerifyResult>;

std::string verify_text(const VerifyResult& result);
std::string verify_table(const std::vector<VerifyRow>& rows);  // for several candidates

}  // namespace ounce::report
