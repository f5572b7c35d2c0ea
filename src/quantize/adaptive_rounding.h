// AdaRound-style rounding (`rounding=adaptive`): rounds the weights of INT8 ops so that each op's outputs on
// the data change as little as possible. The mathematics is in quant/reconstruct.h.
#pragma once

#include <ounce/quantize.h>

#include "formats/onnx/plan/plan.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

struct AdaptiveResult {
  std::size_t layers = 0;
  double gain_db = 0;                   // SQNR of the layers' outputs, relative to nearest rounding
  std::vector<std::string> left_alone;  // layers that are rounded to nearest, with the reason
};

// Fills in Decision::codes of the plan. Runs the floating-point model on some of the data; several times if
// the statistics of all layers exceed the memory limit.
AdaptiveResult round_adaptively(const PreparedModel& prepared, const QuantizeOptions& options,
                                plan::Plan& plan, ThreadPool& pool);

}  // namespace ounce::quantization
