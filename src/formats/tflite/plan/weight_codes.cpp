#include "formats/tflite/plan/weight_codes.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "quant/layout.h"
#include "quant/linear.h"

namespace ounce::tflite {
namespace {

// Transposes a matrix [rows, columns].
template <class T>
void transpose(const T* from, std::size_t rows, std::size_t columns, T* to) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
  }
}

// [channels, taps, inputs]: `channels` whole ones.
void encode_channels(const Decision& decision, const float* values, std::size_t channel, std::size_t channels,
                     std::uint8_t* codes) {
  const std::size_t size = decision.layout.inner, taps = decision.weight.kernel_taps, inputs = size / taps;
  std::vector<float> ordered(size);
  std::vector<std::uint8_t> by_kernel(size);
  for (std::size_t c = 0; c < channels; ++c) {
    transpose(values + c * size, taps, inputs, ordered.data());
    const auto* const x = reinterpret_cast<const std::byte*>(ordered.data());
    const kernels::Affine& affine = decision.affine[channel + c];
    kernels::quantize_run(x, size, affine, decision.format.codes, by_kernel.data());
    quant::balance_runs(x, 1, size, taps, &affine, decision.format.codes, by_kernel.data());
    transpose(by_kernel.data(), inputs, taps, codes + c * size);
  }
}

// [taps, channels]: all of it.
void encode_columns(const Decision& decision, const float* values, std::uint8_t* codes) {
  const std::size_t taps = decision.layout.outer, channels = decision.layout.channels;
  std::vector<float> ordered(taps * channels);
  std::vector<std::uint8_t> by_channel(taps * channels);
  transpose(values, taps, channels, ordered.data());
  const auto* const x = reinterpret_cast<const std::byte*>(ordered.data());
  kernels::quantize_runs(x, channels, taps, decision.affine.data(), decision.format.codes, by_channel.data());
  quant::balance_runs(x, channels, taps, taps, decision.affine.data(), decision.format.codes,
                      by_channel.data());
  transpose(by_channel.data(), channels, taps, codes);
}

std::vector<float> values_of(const quant::FloatSource& floats, std::size_t first, std::size_t count) {
  std::vector<float> scratch, values(count);
  std::memcpy(values.data(), floats.values(first, count, scratch), count * sizeof(float));
  return values;
}

}  // namespace

void encode_weight(const Decision& decision, const quant::FloatSource& floats, const ForEach& for_each,
                   const std::function<void(std::size_t, std::span<const std::uint8_t>)>& write) {
  const quant::Layout& layout = decision.layout;
  const bool is_balanced = decision.kernel != 0 && decision.granularity == GranularityKind::kChannel &&
                           decision.weight.kernel_taps > 1 && layout.panels == 1;
  const std::size_t size = floats.size();
  const bool has_rows = is_balanced && layout.outer == 1 && 2 * layout.inner <= quant::kTile &&
                        layout.inner % decision.weight.kernel_taps == 0;
  const bool has_columns =
      is_balanced && layout.inner == 1 && layout.outer == decision.weight.kernel_taps && size <= quant::kTile;
  const std::size_t tile = has_columns ? size + size % 2 : quant::tile_size(layout.inner);
  quant::for_each_tile(floats, std::max<std::size_t>(1, tile), for_each,
                       [&](std::size_t, std::size_t first, std::size_t count) {
                         std::vector<std::uint8_t> codes(count);
                         if (has_rows) {
                           encode_channels(decision, values_of(floats, first, count).data(),
                                           first / layout.inner, count / layout.inner, codes.data());
                         } else if (has_columns) {
                           encode_columns(decision, values_of(floats, first, count).data(), codes.data());
                         } else {
                           quant::encode_linear(floats, layout, decision.format, decision.affine,
                                                decision.kernel == 0 ? 0 : 1, first, count, codes.data());
                         }
                         write(first, codes);
                       });
}

}  // namespace ounce::tflite
