// Applies one input's contract: from a sample as it was read to the values that the model takes, without the
// batch axis. And observes those values, to compare them with what a contract recorded.
#pragma once

#include <ounce/contract.h>

#include <optional>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

class Preprocess {
 public:
  // Throws Error{kUsage} when the contract contradicts itself.
  Preprocess(const InputContract& contract, std::string input);

  // `raw` is a field of `sample`. Throws Error{kBadInput} when it does not fit the contract: the rate of the
  // sound, the number of colors.
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

// The range, means and deviations of the values that a model is fed with.
class ObservedRange {
 public:
  // One sample's values for an input. Channels: the first axis of planar images, the last one of others, one
  // for everything else.
  void add(std::span<const float> values, const Dims& dims, const InputContract& contract);

  bool is_empty() const { return samples_ == 0; }
  InputContract::Observed result() const;

 private:
  std::uint64_t samples_ = 0;
  double minimum_ = 0, maximum_ = 0;
  std::vector<double> sums_, squares_;
  double count_ = 0;  // values of each channel
};

// A message about how `seen` contradicts what the contract recorded; nothing when both may be of the same
// kind. Only differences that no choice of samples explains count: another scale or sign of values, or colors
// in the opposite order.
std::optional<std::string> contradiction(const InputContract& contract, const InputContract::Observed& seen);

// A message about pictures whose channels have other means or deviations than those recorded. A different
// normalization causes that, and so do unusual pictures, so a person has to look at it.
std::optional<std::string> doubt(const InputContract& contract, const InputContract::Observed& seen);

}  // namespace ounce::data
