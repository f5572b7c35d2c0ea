// Metrics of waveforms, compared with a target waveform. SI-SNR: the ratio, in dB, of the scaled target to
// the rest of the output, independent of loudness. Log-spectral distance: the distance between the spectra of
// short frames, in dB.
#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "data/tensor.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

constexpr double kMostDecibel = 100;  // of identical waveforms
constexpr std::size_t kFrame = 512, kHop = 256;
constexpr double kQuietPower = 1e-10;  // relative to the loudest bin: lower powers are inaudible

double si_snr(const std::vector<double>& wanted, const std::vector<double>& given) {
  const auto count = static_cast<double>(wanted.size());
  double mean_wanted = 0, mean_given = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    mean_wanted += wanted[i] / count;
    mean_given += given[i] / count;
  }
  double dot = 0, square = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    dot += (wanted[i] - mean_wanted) * (given[i] - mean_given);
    square += (wanted[i] - mean_wanted) * (wanted[i] - mean_wanted);
  }
  const double scale = square > 0 ? dot / square : 0;
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double part = scale * (wanted[i] - mean_wanted), rest = given[i] - mean_given - part;
    signal += part * part;
    noise += rest * rest;
  }
  if (noise <= 0) return kMostDecibel;
  if (signal <= 0) return -kMostDecibel;
  return std::clamp(10 * std::log10(signal / noise), -kMostDecibel, kMostDecibel);
}

void transform(std::vector<std::complex<double>>& values) {
  const std::size_t count = values.size();
  for (std::size_t i = 1, k = 0; i < count; ++i) {
    std::size_t bit = count >> 1;
    for (; (k & bit) != 0; bit >>= 1) k ^= bit;
    k ^= bit;
    if (i < k) std::swap(values[i], values[k]);
  }
  for (std::size_t length = 2; length <= count; length *= 2) {
    const std::complex<double> turn = std::polar(1.0, -2 * std::numbers::pi / static_cast<double>(length));
    for (std::size_t begin = 0; begin < count; begin += length) {
      std::complex<double> factor = 1;
      for (std::size_t k = 0; k < length / 2; ++k, factor *= turn) {
        const std::complex<double> odd = factor * values[begin + k + length / 2];
        values[begin + k + length / 2] = values[begin + k] - odd;
        values[begin + k] += odd;
      }
    }
  }
}

// The power spectrum of one frame, padded with zeros.
std::vector<double> powers(const std::vector<double>& wave, std::size_t begin) {
  std::vector<std::complex<double>> values(kFrame);
  for (std::size_t i = 0; i < kFrame && begin + i < wave.size(); ++i) {
    const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / kFrame);
    values[i] = window * wave[begin + i];
  }
  transform(values);
  std::vector<double> all;
  for (std::size_t i = 0; i <= kFrame / 2; ++i) all.push_back(std::norm(values[i]));
  return all;
}

// The RMS difference of the levels (in dB) of each frame, averaged over the frames.
double spectral_distance(const std::vector<double>& wanted, const std::vector<double>& given) {
  double loudest = 0, total = 0, frames = 0;
  for (std::size_t begin = 0; begin < wanted.size(); begin += kHop) {
    const std::vector<double> all = powers(wanted, begin);
    loudest = std::max(loudest, *std::max_element(all.begin(), all.end()));
  }
  const double floor = std::max(kQuietPower * loudest, 1e-20);
  for (std::size_t begin = 0; begin < wanted.size(); begin += kHop) {
    const std::vector<double> ours = powers(wanted, begin), theirs = powers(given, begin);
    double squares = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double difference =
          10 * std::log10(std::max(ours[i], floor)) - 10 * std::log10(std::max(theirs[i], floor));
      squares += difference * difference;
    }
    total += std::sqrt(squares / static_cast<double>(ours.size()));
    ++frames;
  }
  return frames == 0 ? 0 : total / frames;
}

class SoundMeter : public Meter {
 public:
  explicit SoundMeter(std::size_t output) : output_(output) {}

  void add(const Sample& sample) override {
    const std::vector<double> ours = data::to_doubles(sample.reference[output_], sample.where),
                              theirs = data::to_doubles(sample.candidate[output_], sample.where),
                              truth = sample.label == nullptr ? ours
                                                              : data::to_doubles(*sample.label, sample.where);
    if (truth.size() != ours.size())
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the label is a waveform of {} values, but the output has {}", truth.size(),
                              ours.size()),
                  sample.where);
    snr_.add({si_snr(truth, ours), 1}, {si_snr(truth, theirs), 1});
    distance_.add({spectral_distance(truth, ours), 1}, {spectral_distance(truth, theirs), 1});
  }

  std::vector<MetricResult> results() const override {
    return {snr_.mean("si_snr", true, MetricUnit::kDecibel),
            distance_.mean("log_spectral_distance", false, MetricUnit::kDecibel)};
  }

 private:
  std::size_t output_;
  SampleSums snr_, distance_;
};

}  // namespace

std::unique_ptr<Meter> make_sound(const MeterSettings& settings) {
  return std::make_unique<SoundMeter>(settings.output);
}

}  // namespace ounce::evaluate
