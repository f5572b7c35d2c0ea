// What can be asked for when a model is made smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ounce {

// How weights are stored; arithmetic stays in FP32 in all of them.
enum class StorageFormat {
  kW8,   // 8-bit codes and scales: about 25 % of the bytes
  kW4,   // 4-bit codes: about 15 %
  kW16,  // 16-bit floats: 50 %
};

// How the runtime gets the values back.
enum class DecoderChoice {
  kAuto,  // the best for each tensor; the plan gives the reason
  kFold,  // Cast, Mul …: folded into FP32 constants when a session is created, so inference runs at FP32
          // speed
  kDq,    // DequantizeLinear: newer runtimes fuse it into MatMul, others run it at every inference
};

enum class GranularityKind { kAuto, kTensor, kChannel, kBlock };

struct Granularity {
  GranularityKind kind = GranularityKind::kAuto;  // per channel; for 4 bits blocks of 32 where they fit
  std::size_t block = 0;                          // elements that share a scale, for kBlock
};

enum class ScaleMethod {
  kMse,     // the scale with the smallest squared error
  kAbsMax,  // the scale that represents the largest value exactly
};

enum class Rounding {
  kBalanced,  // so that the errors of a channel sum to zero; see src/quant/balance.h
  kNearest,
};

enum class ExternalData {
  kAuto,    // inline while the file stays below 2 GiB; an unedited model keeps the files it has
  kAlways,  // one data file beside the model
  kNever,
};

struct Recipe {
  StorageFormat format = StorageFormat::kW8;
  DecoderChoice decoder = DecoderChoice::kAuto;
  Granularity granularity;
  ScaleMethod scale = ScaleMethod::kMse;
  Rounding rounding = Rounding::kBalanced;
  bool codebook = false;           // k-means codebook instead of a linear scale
  bool asymmetric = false;         // a zero point for every group
  std::uint64_t min_bytes = 1024;  // smaller tensors are left alone
  // The smallest weights are often the most sensitive and cost least: so much of the size may be spent on
  // storing them as 16-bit floats.
  double half_share = 0.001;
  // Regular expressions (RE2), searched for in the names of tensors and of the nodes that use them, and in op
  // types.
  std::vector<std::string> include, exclude;
};

}  // namespace ounce
