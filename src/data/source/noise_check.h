// Recognizes inputs that look like random numbers. In images, sound and spectra neighboring values are alike;
// ranges that are calibrated on random numbers do not suit them.
//
//   NoiseCheck check(inputs);
//   for (each batch) check.add(batch.inputs);
//   for (const std::string& note : check.notes()) …
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/source/data_feed.h"
#include "data/tensor.h"

namespace ounce::data {

class NoiseCheck {
 public:
  explicit NoiseCheck(const std::vector<ValueDescription>& inputs);

  // Looks at a limited number of values and ignores the rest.
  void add(const std::vector<Tensor>& inputs);
  // One note for each input without any correlation between neighbors. Inputs with few values, and inputs
  // that are not float32 signals, have none.
  std::vector<std::string> notes() const;

 private:
  struct Axis {
    double squares = 0;  // of differences between neighbors
    std::uint64_t count = 0;
  };
  struct Input {
    std::string name;
    double sum = 0, squares = 0;
    std::uint64_t values = 0;
    std::vector<Axis> axes;  // after the batch axis
  };
  static void add(const Tensor& tensor, Input& input);

  std::vector<Input> inputs_;
};

}  // namespace ounce::data
