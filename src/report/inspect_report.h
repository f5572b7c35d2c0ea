// The result of inspect, for people and for programs.
#pragma once

#include <ounce/inspect.h>

#include <string>
#include <vector>

#include "report/row.h"

namespace ounce::report {

using InspectRow = Row<ModelInfo>;

std::string inspect_text(const ModelInfo& info, std::size_t tensors);
std::string inspect_table(const std::vector<InspectRow>& rows);

}  // namespace ounce::report
