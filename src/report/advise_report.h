// Advice about a model, for people and for programs.
#pragma once

#include <ounce/advise.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using AdviseRow = Row<AdviseResult>;

std::string advise_text(const AdviseResult& result);
std::string advise_table(const std::vector<AdviseRow>& rows);  // for several models

}  // namespace ounce::report
