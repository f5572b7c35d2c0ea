// The thresholds by which advice is given, all in one place.
#pragma once

#include <cstdint>

namespace ounce::search {

// Sizes, in bytes: below the first a model is small, above the second large.
inline constexpr std::uint64_t kSmallModel = 10'000'000, kLargeModel = 50'000'000;

inline constexpr double kWorthwhileSpeed = 1.1;  // a method that brings less brings nothing
inline constexpr double kWorthwhileSize = 0.8;   // of the bytes: a method that leaves more saves nothing

// Quality, where there are no labels.
inline constexpr double kLeastAgreement = .99;  // of top-1 predictions

// Data.
inline constexpr std::uint64_t kFewSamples = 100, kMostCalibration = 256;
inline constexpr std::uint64_t kLeastForNoise = 16;  // samples that show how far outputs are off

// Signs of trouble.
inline constexpr double kDynamicShare = .05;       // of the weights in products: less is not worth a try
inline constexpr double kWideWeight = 40;          // largest value of a tensor, in its root mean squares
inline constexpr double kWideChannels = 100;       // ratio between the largest and the smallest channel
inline constexpr double kFloatShare = .2;          // of the nodes with weights that stay in floats
inline constexpr std::uint64_t kTinyLayer = 4096;  // bytes of a weight

}  // namespace ounce::search
