// Files of ranges, and what the public API says of them.
#pragma once

#include <ounce/calibrate.h>

#include "calibration/ranges.h"

namespace ounce::quantization {

// Ranges may take the place of older ranges, but not of a model or of data. Throws Error{kUsage}.
void require_replaceable(const std::filesystem::path& output);

CalibrateResult describe_ranges(const calibration::Ranges& ranges);
CalibrateResult write_ranges(const calibration::Ranges& ranges, const std::filesystem::path& output);
calibration::Ranges load_ranges(const std::filesystem::path& file);

}  // namespace ounce::quantization
