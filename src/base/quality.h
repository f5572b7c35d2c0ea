// The scale of output SQNR in dB: every threshold of it that Ounce has.
//
// SQNR is 10·log10(energy of the reference's outputs / energy of the difference). 20 dB is an error of 10 %
// of the outputs' size, 40 dB one of 1 %.
#pragma once

namespace ounce {

struct Quality {
  static constexpr double kHopeless = 10;   // below, it is not the same model, and no mix of formats saves it
  static constexpr double kMinUsable = 20;  // what `verify` requires; predictions that are close may change
  static constexpr double kGood = 30;       // what `tune` requires; predictions seldom change
  static constexpr double kVeryGood = 40;   // predictions hardly ever change: more is not worth an effort
  static constexpr double kHarmless = 60;   // no prediction changes
  static constexpr double kSameModel = 100;  // no more than rounding in another order
};

}  // namespace ounce
