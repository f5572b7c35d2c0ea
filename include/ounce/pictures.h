// Small charts and images of a result, of limited size. QuantizeOptions::pictures and VerifyOptions::pictures
// enable them; they are off by default because samples may be private.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ounce {

// A histogram of values.
struct ValueHistogram {
  static constexpr std::size_t kBins = 48;

  double low = 0, high = 0;           // the start of the first bin and the end of the last bin
  std::vector<std::uint64_t> counts;  // of kBins bins of equal width; one bin if all values are equal
  // Share of values that are clipped by the chosen range by more than a rounding error; unset if there is no
  // single range (weights have one range per channel).
  std::optional<double> clipped_share = {};
};

// An input or output of a model as an image or a waveform.
struct InputPicture {
  static constexpr int kPixels = 96;                // maximum length of the longer side, of an input
  static constexpr int kOutputPixels = 160;         // the same of an output
  static constexpr std::size_t kStretches = 240;    // maximum number of intervals of a waveform
  static constexpr std::size_t kMostSound = 32000;  // maximum number of values in `wav`
  static constexpr std::uint32_t kUsualRate = 16000;

  std::string input;                             // name of the input or output
  std::string png;                               // a PNG file; empty for a waveform
  std::vector<float> lowest = {}, highest = {};  // extremes of equally long intervals; empty for an image
  // The beginning of a waveform as a WAV file: 16 bits, mono, at the sampling rate of the contract, or at
  // kUsualRate without one. Empty for an image.
  std::string wav = {};
};

// The scores of one class in both models.
struct ClassScore {
  std::uint64_t of_class = 0;
  double reference = 0, candidate = 0;
};

}  // namespace ounce
