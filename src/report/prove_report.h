// The results of prove, for people and for programs.
#pragma once

#include <ounce/prove.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using ProveRow = Row<Proof>;

std::string prove_text(const Proof& proof);
std::string prove_table(const std::vector<ProveRow>& rows);  // for several models

}  // namespace ounce::report
