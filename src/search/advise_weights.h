// How wide the values of weights are: what decides how much eight bits lose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/index.h"
#include "onnx/model.h"

namespace ounce::search {

struct WeightSpread {
  std::string name, op_type;
  double peak = 0;      // largest value, in root mean squares of the tensor
  double channels = 1;  // largest channel's range over the smallest one's
};

struct WeightSurvey {
  std::vector<WeightSpread> widest;  // by peak, the worst first, and only those over the limit …
  std::vector<WeightSpread> uneven;  // … likewise by channels
  std::size_t weights = 0, tiny = 0;
  bool is_whole = true;  // otherwise the model was too large to look at everything
};

WeightSurvey survey_weights(const onnx::Model& model, const graph::Index& index);

}  // namespace ounce::search
