// The sums of a shadow deployment, for people and for programs.
#pragma once

#include <ounce/app/shadow.h>

#include <string>

namespace ounce::report {

std::string shadow_text(const app::ShadowStatistics& statistics, const app::ShadowVerdict& verdict);

}  // namespace ounce::report
