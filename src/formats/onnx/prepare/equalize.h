// Cross-layer equalization: scales the channels of activations to similar ranges before they are quantized
// with one scale, because channels with small values lose precision next to channels with large ones. A
// positive factor for each channel (ChannelFactors below) is moved from the op that makes the activation into
// the weights that use it:
//
//   Conv(w, b) ─ Relu ─ x ─ Conv(v)        →   Conv(w/s, b/s) ─ Relu ─ x/s ─ Conv(v·s)
//   LayerNormalization(g, b) ─ x ┬ MatMul(q)   LayerNormalization(g/s, b/s) ─ x/s ┬ MatMul(q·s)
//                                ├ MatMul(k)                                      ├ MatMul(k·s)
//                                └ MatMul(v)                                      └ MatMul(v·s)
//
// The result is the same in FP32. Per-channel weight scales absorb the factor of an output channel, so the op
// in front loses nothing.
//
//   Makes x:  Conv, ConvTranspose, Gemm; MatMul with a constant on its right side; Mul by a constant along
//             the last axis (both with or without an Add of such a constant: the older form of
//             normalizations); LayerNormalization.
//   Between:  Relu, LeakyRelu, PRelu, Identity; if channels are the second axis also MaxPool, AveragePool,
//             GlobalMaxPool, GlobalAveragePool, and Flatten after a global pool.
//   Uses x:   Conv (any group), Gemm, MatMul with a constant on its right side.
//
// Conditions: x and all values in between are used only by such ops, in the same graph; the parameters are
// float32 constants that no other node uses; calibration observed the values per channel; the predicted noise
// decreases. Not changed are therefore: values that also go into a residual sum (the other summands would
// need the same factors), Clip with an upper limit, Gelu and similar ops (they do not commute with a factor),
// SkipLayerNormalization.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibration/ranges.h"
#include "calibration/statistics.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

struct Equalization : Changes {
  std::vector<std::string> done;      // "node '/n1/LayerNormalization': alpha 0.5, predicted 3.2 dB better"
  std::vector<std::string> rescaled;  // graph::value_path(): their entries in `ranges` are no longer valid
};

// Processes the main graph and its subgraphs, except functions and loops, whose values are not observed.
// `ranges` must be those of this model. Afterward the model must be observed again.
Equalization equalize(onnx::Model& model, const calibration::Ranges& ranges);

// Finds a positive factor for each channel of an activation, to be moved into the weights that it is
// multiplied by, so that the quantization error of the product decreases:
//
//   x'_c = x_c / s_c          w'_c = w_c · s_c          s_c = a_c^alpha / max|w_c|^(1-alpha)
//
// a_c is the largest observed |x_c|. alpha = 1 makes all channels of the activation equally large, alpha = 0
// those of the weights; several values are tried, and the one with the smallest predicted noise is used.
//
// The noise at the outputs of a product, for uint8 activations with one scale and int8 weights with a scale
// for each output (without clipping):
//
//   Σ over weights w of  min(step_x² / 12, E[x_c²]) · w²  +  E[x_c²] · min(step_w² / 12, w²)
//
// (values smaller than half a step become zero, so their error is limited to their own size).

// Maps each value of a tensor to its channel. Value i belongs to
//   (i / inner / per_group / rows_per_group) · per_group + (i / inner) mod per_group
struct ChannelMap {
  std::size_t count = 0;  // of channels
  std::size_t inner = 1, per_group = 1, rows_per_group = 1;

  // Channels along one axis; `inner` consecutive values have the same index.
  static ChannelMap along(std::size_t inner, std::size_t count) {
    return {count, inner, count, std::numeric_limits<std::size_t>::max()};
  }
};

// Iterates over the channels of consecutive values of a tensor.
class ChannelWalk {
 public:
  explicit ChannelWalk(const ChannelMap& map) : map_(map) {}

  std::size_t channel() const { return group_ + in_group_; }
  void advance() {
    if (++inner_ < map_.inner) return;
    inner_ = 0;
    if (++in_group_ < map_.per_group) return;
    in_group_ = 0;
    if (++row_ < map_.rows_per_group) return;
    row_ = 0;
    group_ += map_.per_group;
  }

 private:
  ChannelMap map_;
  std::size_t inner_ = 0, in_group_ = 0, row_ = 0, group_ = 0;
};

// Observed statistics of one channel of an activation.
struct ChannelExtent {
  double low = 0, high = 0;
  double power = 0;  // the mean of x²

  double magnitude() const;  // max |x|
};

// Statistics contain no E[x²] per channel, but the mean m and the extent, which bound the variance by (high -
// m)·(m - low). The variance is estimated as a fixed share of this bound: the share, equal for all channels,
// with which the total power matches the histogram of the whole value.
//
// Empty if there are no channels, or if values are not finite.
std::vector<ChannelExtent> extents_of(const calibration::Statistics& statistics);

// An activation times constant weights. All weights have as many input channels as there are extents.
struct Product {
  std::vector<ChannelExtent> activation;
  std::vector<float> weight;
  ChannelMap inputs, outputs;
};

double predicted_noise(const Product& product, std::span<const double> factors);

// Range of the factors, relative to a geometric mean of 1. A channel far above the others may shrink to their
// size. A channel far below them is enlarged by at most four of the eight bits: its extent comes from
// samples, and an enlarged channel saturates at the first larger value.
inline constexpr double kSmallestFactor = 1.0 / 16, kLargestFactor = 64;

// Smaller gains do not justify a change of the weights, because the prediction is not that exact.
inline constexpr double kSmallestGain = 0.05;

struct ChannelFactors {
  double alpha = 0;
  std::vector<double> factors;  // 1 for channels that were never active
  double gain_db = 0;           // predicted noise reduction
};

// For products that use the same activation, or one that differs only by Relu or similar ops. Empty if no
// change is as good, or if values are not finite.
std::optional<ChannelFactors> best_factors(std::span<const Product> products);

}  // namespace ounce::passes
