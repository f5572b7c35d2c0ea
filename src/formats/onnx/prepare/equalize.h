// Makes the channels of activations more alike before they are quantized with one scale for all of them,
// where channels with small values lose their bits beside those with large ones. A positive factor for each
// channel (ChannelFactors below) goes out of the op that makes the activation and into the weights that take
// it:
//
//   Conv(w, b) ─ Relu ─ x ─ Conv(v)        →   Conv(w/s, b/s) ─ Relu ─ x/s ─ Conv(v·s)
//   LayerNormalization(g, b) ─ x ┬ MatMul(q)   LayerNormalization(g/s, b/s) ─ x/s ┬ MatMul(q·s)
//                                ├ MatMul(k)                                      ├ MatMul(k·s)
//                                └ MatMul(v)                                      └ MatMul(v·s)
//
// The model computes the same in floats. Weights that have a scale for each output channel lose nothing when
// that channel gets a factor, so the op in front pays no price.
//
//   Makes x:  Conv, ConvTranspose, Gemm; MatMul with a constant on its right side; Mul by a constant along
//             the last axis (both with or without an Add of such a constant: the older form of
//             normalisations); LayerNormalization.
//   Between:  Relu, LeakyRelu, PRelu, Identity; where channels are the second axis also MaxPool, AveragePool,
//             GlobalMaxPool, GlobalAveragePool, and behind a global one Flatten.
//   Takes x:  Conv (any group), Gemm, MatMul with a constant on its right side.
//
// Conditions: x and all values between are used by such ops alone, in the same graph; the parameters are
// float32 constants that no other node uses; the values that are multiplied were observed, channel by
// channel; the noise is predicted to become less. So these stay as they are: a value that also goes into a
// residual sum (the other summands would need the same factors), Clip with an upper limit, Gelu and the like
// (they do not commute with a factor), SkipLayerNormalization.
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
  std::vector<std::string> rescaled;  // graph::value_path(): what `ranges` says of them is no longer true
};

// In the main graph and in those inside of it; nothing is known of values in functions and loops. `ranges`
// are those of this very model, and afterwards it has to be observed again.
Equalization equalize(onnx::Model& model, const calibration::Ranges& ranges);

// Finds a positive factor for each channel of an activation, to be moved out of it and into the weights it is
// multiplied with, so that both lose less when they are quantized:
//
//   x'_c = x_c / s_c          w'_c = w_c · s_c          s_c = a_c^alpha / max|w_c|^(1-alpha)
//
// a_c is the largest |x_c| that was seen. alpha = 1 makes all channels of the activation equally large,
// alpha = 0 those of the weights; several are tried, and the one with the smallest predicted noise is taken.
//
// The noise at the outputs of a product, for u8 activations with one scale and s8 weights with one scale for
// each output (their steps are those of the extents, without clipping):
//
//   Σ over weights w of  min(step_x² / 12, E[x_c²]) · w²  +  E[x_c²] · min(step_w² / 12, w²)
//
// (what is smaller than half a step becomes zero, so it can lose no more than itself).

// Which channel each value of a tensor belongs to. Value i belongs to
//   (i / inner / per_group / rows_per_group) · per_group + (i / inner) mod per_group
struct ChannelMap {
  std::size_t count = 0;  // of channels
  std::size_t inner = 1, per_group = 1, rows_per_group = 1;

  // The channels are one axis, of which `inner` values in a row have the same index.
  static ChannelMap along(std::size_t inner, std::size_t count) {
    return {count, inner, count, std::numeric_limits<std::size_t>::max()};
  }
};

// The channels of one value of a tensor after the other.
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

// What is known of one channel of an activation.
struct ChannelExtent {
  double low = 0, high = 0;
  double power = 0;  // the mean of x²

  double magnitude() const;  // max |x|
};

// Statistics hold no x² of a channel, but its mean m and its extent, by which its variance is at most
// (high - m)·(m - low). It is taken to be a share of that: the share, the same in all channels, with which
// the powers of all channels together are that of the whole value's histogram.
//
// Empty when there are no channels, or values that are not finite.
std::vector<ChannelExtent> extents_of(const calibration::Statistics& statistics);

// An activation times constant weights. All have as many input channels as there are extents.
struct Product {
  std::vector<ChannelExtent> activation;
  std::vector<float> weight;
  ChannelMap inputs, outputs;
};

double predicted_noise(const Product& product, std::span<const double> factors);

// Factors lie between these, around a geometric mean of 1. A channel far above the others may shrink to their
// size whatever it is in practice. One far below them is stretched by at most four bits of the eight: its
// extent comes from samples, and once stretched it saturates at the first value beyond that.
inline constexpr double kSmallestFactor = 1.0 / 16, kLargestFactor = 64;

// Less is not worth a change of the weights: the prediction is not that exact.
inline constexpr double kSmallestGain = 0.05;

struct ChannelFactors {
  double alpha = 0;
  std::vector<double> factors;  // 1 for channels that were never active
  double gain_db = 0;           // by how much the noise becomes less
};

// For products that take the same activation, or one that differs by Relu or the like. Nothing when leaving
// everything as it is is as good, or when something is not finite.
std::optional<ChannelFactors> best_factors(std::span<const Product> products);

}  // namespace ounce::passes
