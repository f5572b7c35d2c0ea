// Calibration files, and their description in the public API.
#pragma once

#include <ounce/quantize.h>

#include "calibration/ranges.h"

namespace ounce::quantization {

// Throws Error{kUsage} if `output` exists and is not a calibration file, such as a model or data.
void require_replaceable(const std::filesystem::path& output);

CalibrateResult describe_ranges(const calibration::Ranges& ranges);
CalibrateResult write_ranges(const calibration::Ranges& ranges, const std::filesystem::path& output);
calibration::Ranges load_ranges(const std::filesystem::path& file);

}  // namespace ounce::quantization
