// How close the outputs of two models are.
#pragma once

#include <string>
#include <vector>

#include "runtime/ort/session.h"

namespace ounce::test {

struct Closeness {
  // Over all float outputs together; infinite when they are equal, minus infinite when one has a NaN or an
  // infinity where the other has not.
  double sqnr_db = 0;
  std::string difference;  // of shapes, types or integers; empty when there is none
};

Closeness compare_outputs(const std::vector<runtime::Tensor>& reference,
                          const std::vector<runtime::Tensor>& candidate);

// Any numeric tensor as doubles.
std::vector<double> numbers_of(const runtime::Tensor& tensor);

}  // namespace ounce::test
