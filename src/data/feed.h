// What a model is fed with, batch by batch: the end of the way that data takes, whether from files or made
// up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

struct Batch {
  std::vector<Tensor> inputs;      // in the model's order, with the batch axis
  std::vector<Tensor> labels;      // one for each sample, without a batch axis; none if there are no labels
  std::vector<std::string> names;  // one for each sample
  bool starts_sequence = true;     // a state that is carried from run to run begins anew here
};

class Feed {
 public:
  virtual ~Feed() = default;
  // How many batches there are, and samples in all of them.
  virtual std::uint64_t batches() const = 0;
  virtual std::uint64_t samples() const = 0;
  // Batches may be asked for in any order; in their own order it is fast. `batch` is filled anew, in the
  // memory it has.
  virtual void read(std::uint64_t index, Batch& batch) = 0;
  // What a user should know about how the data met the model.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace ounce::data
