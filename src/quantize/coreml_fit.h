// Fits the weights of an ML Program to data (`rounding=adaptive`): scales and rounding that change the
// outputs of each operation least on its own inputs. The mathematics is in quant/reconstruct.h.
//
// The evaluator runs the program on some of the data, with the inputs of the operations as outputs. Supported
// are weights of conv, conv_transpose, linear and matmul with scales or lookup tables. Others are rounded to
// nearest.
#pragma once

#include <ounce/quantize.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "formats/coreml/plan/plan.h"
#include "formats/coreml/view/coreml_file.h"

namespace ounce::quantization {

struct CoremlFit {
  std::size_t layers = 0;
  double gain_db = 0;                   // SQNR of the layers' outputs, relative to nearest rounding
  std::vector<std::string> left_alone;  // operations that are rounded to nearest, with the reason
};

// Fills in Decision::affine and Decision::codes of the plan. Runs the program several times if the statistics
// of all operations exceed the memory limit.
CoremlFit fit_coreml(const coreml::CoremlFile& source, const QuantizeOptions& options, coreml::Plan& plan,
                     ThreadPool& pool);

}  // namespace ounce::quantization
