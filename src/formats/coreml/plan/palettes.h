// Lookup tables of weights (palettes), and the choice of their granularity by the values.
//
//   one table                           indices → table
//   one for each group of channels      indices → table of the group         from iOS18 on
//   one table and a scale per channel   indices → table → times the scale    from iOS18 on
//
// Scales help if the magnitudes of channels differ: all channels then use the whole table.
#pragma once

#include "base/thread_pool.h"
#include "formats/coreml/plan/plan.h"
#include "quant/float_source.h"

namespace ounce::coreml {

// Fills in `tables`, `row_scales`, and the granularity (layout, group_dims, reason).
void fit_palette(Decision& decision, const quant::FloatSource& floats, const kernels::Range& whole,
                 const ForEach& for_each);

// Writes the indices of [first, first + count), one byte each.
void encode_palette(const Decision& decision, const quant::FloatSource& floats, std::size_t first,
                    std::size_t count, std::uint8_t* codes);
// The values of these indices, rounded to the type of the weight.
void decode_palette(const std::vector<std::vector<float>>& tables, const std::vector<float>& row_scales,
                    const Decision& decision, const std::uint8_t* codes, std::size_t first, std::size_t count,
                    float* values);

// Rounds values to 16-bit floats if the weight has these.
void round_like(const Decision& decision, float* values, std::size_t count);

}  // namespace ounce::coreml
