// What values look like that a model is fed with, and whether they contradict what a contract recorded.
#pragma once

#include <ounce/contract.h>

#include <optional>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

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

// What differs, for a person; nothing when `seen` may well be of the same kind as what the contract recorded.
// Only differences that no choice of samples explains count: another scale or sign of values, colours in the
// opposite order.
std::optional<std::string> contradiction(const InputContract& contract, const InputContract::Observed& seen);

// Pictures whose channels have other means or deviations than those recorded. A normalization that differs
// does that, and so do unusual pictures: it is for a person to look at.
std::optional<std::string> doubt(const InputContract& contract, const InputContract::Observed& seen);

}  // namespace ounce::data
