// Carries out one input's contract: from a sample as it was read to the values that the model takes, without
// the batch axis.
#pragma once

#include <ounce/contract.h>

#include "data/source.h"

namespace ounce::data {

class Preprocess {
 public:
  // Throws Error{kUsage} when the contract contradicts itself.
  Preprocess(const InputContract& contract, std::string input);

  // `raw` is a field of `sample`. Throws Error{kBadInput} when it is not what the contract speaks of: the
  // rate of the sound, the number of colours.
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

}  // namespace ounce::data
