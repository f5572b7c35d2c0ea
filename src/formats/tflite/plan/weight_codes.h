// Quantizes weights in the channels-last order of TFLite, rounded so that errors sum to zero
// (quant/linear.h).
//
//   CONV_2D            [channels, taps, inputs]    the taps of a kernel are `inputs` values apart
//   DEPTHWISE_CONV_2D  [taps, channels]            they are `channels` values apart
//
// Rounding needs the values of a kernel in consecutive order, so each channel is reordered before and after
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/thread_pool.h"
#include "formats/tflite/plan/plan.h"
#include "quant/float_source.h"

namespace ounce::tflite {

// Calls `write` with the quantized values of each tile, one per byte, in any order and on any thread. Tiles
// begin at even elements.
void encode_weight(const Decision& decision, const quant::FloatSource& floats, const ForEach& for_each,
                   const std::function<void(std::size_t first, std::span<const std::uint8_t> codes)>& write);

}  // namespace ounce::tflite
