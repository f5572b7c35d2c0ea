// What pictures of a result are drawn from: small, however large what they show. Asked for by
// QuantizeOptions::pictures and VerifyOptions::pictures, because samples are nobody's business unless
// somebody wants to see them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ounce {

// How often values of each size occur.
struct ValueHistogram {
  static constexpr std::size_t kBins = 48;

  double low = 0, high = 0;           // where the first bin begins, and where the last one ends
  std::vector<std::uint64_t> counts;  // of bins of one width, kBins of them; of one value: one bin
  // Of the values that lie outside of the range that was chosen, and lose more than a rounding; nothing where
  // there is no one range (weights have one for each channel).
  std::optional<double> clipped_share = {};
};

// What a model was given, to look at: a picture, or a waveform.
struct InputPicture {
  static constexpr int kPixels = 96;              // of the longer side, at most
  static constexpr std::size_t kStretches = 240;  // of a waveform, at most

  std::string input;                             // its name
  std::string png;                               // the bytes of a file; empty: it is no picture
  std::vector<float> lowest = {}, highest = {};  // of stretches of one length; empty: it is no waveform
};

// What both models say of one class.
struct ClassScore {
  std::uint64_t of_class = 0;
  double reference = 0, candidate = 0;
};

}  // namespace ounce
