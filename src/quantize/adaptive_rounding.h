// Rounds the weights of integer ops so that each op gives what it gave before, on the data: --rounding
// adaptive. The mathematics is in quant/reconstruct.h.
#pragma once

#include <ounce/quantize.h>

#include "formats/onnx/plan/plan.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

struct AdaptiveResult {
  std::size_t layers = 0;
  double gain_db = 0;  // of the layers' outputs against nearest rounding, all together
  std::vector<std::string> left_alone;
};

// Fills in Decision::codes of the plan. Runs the float model over some of the data, several times if what it
// has to keep would not fit memory.
AdaptiveResult round_adaptively(const PreparedModel& prepared, const QuantizeOptions& options,
                                plan::Plan& plan, ThreadPool& pool);

}  // namespace ounce::quantization
