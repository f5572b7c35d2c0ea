// The results of tune, for people and for programs.
#pragma once

#include <ounce/tune.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using TuneRow = Row<TuneResult>;

std::string trial_line(const TuneTrial& trial);  // while the search goes on
std::string tune_text(const TuneResult& result);
std::string tune_table(const std::vector<TuneRow>& rows);  // for several models

}  // namespace ounce::report
