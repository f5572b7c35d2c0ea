// The results of unpack, for people and for programs.
#pragma once

#include <ounce/app/unpack.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using UnpackRow = Row<app::Unpacked>;

std::string unpack_text(const UnpackRow& row);
std::string unpack_table(const std::vector<UnpackRow>& rows);  // for several models

}  // namespace ounce::report
