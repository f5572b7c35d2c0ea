// Applies the contract of one input: converts a raw sample to the values of the model's input, without the
// batch axis. Also observes the range of these values, to compare it with the recorded range of a contract.
#pragma once

#include <ounce/data.h>

#include <optional>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

class Preprocess {
 public:
  // Throws Error{kUsage} if the contract is contradictory.
  Preprocess(const InputContract& contract, std::string input);

  // Preprocesses `raw`, a field of `sample`. Throws Error{kBadInput} if it does not match the contract, for
  // example in its sampling rate or its number of channels.
  Tensor apply(Tensor raw, const Sample& sample, ElementType model_type) const;

 private:
  Tensor image(Tensor raw, const std::string& where, ElementType model_type) const;
  Tensor audio(Tensor raw, const Sample& sample, const std::string& where) const;
  Tensor array(Tensor raw, const std::string& where) const;
  Tensor scale(Tensor values, std::size_t channels, std::size_t channel_stride,
               const std::string& where) const;

  InputContract contract_;
  std::string input_;
};

// Collects the range, means and standard deviations of a model's input values.
class ObservedRange {
 public:
  // Adds the values of one sample. The channel axis is the first of planar images and the last of other
  // images; everything else has one channel.
  void add(std::span<const float> values, const Dims& dims, const InputContract& contract);

  bool is_empty() const { return samples_ == 0; }
  InputContract::Observed result() const;

 private:
  std::uint64_t samples_ = 0;
  double minimum_ = 0, maximum_ = 0;
  std::vector<double> sums_, squares_;
  double count_ = 0;  // values per channel
};

// Returns a message if `seen` contradicts the values that the contract recorded. Reports only differences
// that another choice of samples cannot explain: another scale or sign of values, or colors in the opposite
// order.
std::optional<std::string> contradiction(const InputContract& contract, const InputContract::Observed& seen);

// Returns a message if the channels of images have other means or standard deviations than recorded. The
// cause may be another normalization or unusual images, so the user has to decide.
std::optional<std::string> doubt(const InputContract& contract, const InputContract::Observed& seen);

}  // namespace ounce::data
