// What concerns apps, as text: the results of unpack, and the sums of a shadow deployment.
#pragma once

#include <ounce/app/shadow.h>
#include <ounce/app/unpack.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using UnpackRow = Row<app::Unpacked>;

std::string unpack_text(const UnpackRow& row);
std::string unpack_table(const std::vector<UnpackRow>& rows);  // for several models

std::string shadow_text(const app::ShadowStatistics& statistics, const app::ShadowVerdict& verdict);

}  // namespace ounce::report
