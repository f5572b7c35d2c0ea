// Thresholds of output SQNR in dB. All thresholds of Ounce are defined here.
//
// SQNR is 10·log10(energy of the reference's outputs / energy of the difference). 20 dB is an error of 10 %
// relative to the outputs, 40 dB an error of 1 %.
#pragma once

namespace ounce {

struct Quality {
  static constexpr double kHopeless = 10;    // below: a different model, which no mix of formats can repair
  static constexpr double kMinUsable = 20;   // required by `verify`; close predictions may change
  static constexpr double kGood = 30;        // required by `tune`; predictions rarely change
  static constexpr double kVeryGood = 40;    // predictions almost never change; more is not worth any effort
  static constexpr double kHarmless = 60;    // no prediction changes
  static constexpr double kSameModel = 100;  // differences only by the order of rounding
};

}  // namespace ounce
