// The distribution of weights and activations in bins of one width, for people to look at.
#pragma once

#include <ounce/pictures.h>
#include <ounce/recipe.h>

#include "calibration/statistics.h"
#include "quant/float_source.h"

namespace ounce::quantization {

// Of a million values, evenly spread over the weight, if it has more. Values that are not finite are left
// out.
ValueHistogram histogram_of(const quant::FloatSource& weight);
// `range` is what was chosen: what is outside of it is clipped.
ValueHistogram histogram_of(const calibration::Statistics& value, const ValueRange& range);

}  // namespace ounce::quantization
