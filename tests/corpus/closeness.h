// Compares the outputs of two models.
#pragma once

#include <string>
#include <vector>

#include "runtime/ort/session.h"

namespace ounce::test {

struct Closeness {
  // Over all float outputs together; infinity if they are equal, minus infinity if only one of them has a NaN
  // or an infinity at some place.
  double sqnr_db = 0;
  std::string difference;  // the first difference of shapes, types or integers; else empty
};

Closeness compare_outputs(const std::vector<runtime::Tensor>& reference,
                          const std::vector<runtime::Tensor>& candidate);

// Converts any numeric tensor to doubles.
std::vector<double> numbers_of(const runtime::Tensor& tensor);

}  // namespace ounce::test
