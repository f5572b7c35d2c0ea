// The first part of quantize(): what the recipe leaves open is found, by measuring where there is data.
#pragma once

#include <ounce/quantize.h>

#include <filesystem>
#include <string>
#include <vector>

#include "quantize/resolved.h"
#include "quantize/static_search.h"

namespace ounce::quantization {

// What follows from the target or from other options, filled in.
QuantizeOptions for_target(QuantizeOptions options);

// `options` are for this machine. Adds notes.
Resolved resolve(const std::filesystem::path& model, const QuantizeOptions& options,
                 std::vector<std::string>& notes, const StaticLimits& limits = {});

}  // namespace ounce::quantization
