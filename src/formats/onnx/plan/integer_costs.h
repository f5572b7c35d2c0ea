// Finds the nodes of a static plan that are faster in FP32, including the cost of quantize and dequantize
// ops.
//
//   x ─ Conv ─ a ─ Conv ─ b ─ y      each Conv has an FP32 and an INT8 time (kernel_costs.h);
//      FP32   ↑   INT8   ↑           a is quantized once for all its INT8 users, b is dequantized
//           quantize  dequantize
//
// The assignment with the least total time is a minimum cut (plan/float_choice/min_cut.h): INT8 on one side,
// FP32 on the other. So a group of INT8 nodes that saves less than its conversions cost does not come up, and
// a slow node between INT8 nodes stays INT8 if converting to FP32 and back would take longer.
//
// Only for x86 CPUs; other CPUs were not measured.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/integer_candidates.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/plan/kernel_costs.h"

namespace ounce::plan {

// Selects from the nodes that run in INT8 in `plan`. Empty if the savings are below the estimation error.
std::set<const onnx::Node*> faster_in_floats(const graph::Index& index, const IntegerPlan& plan,
                                             const IntegerCandidates& candidates,
                                             const calibration::Ranges& ranges, const KernelCosts& costs);

// The nodes of a plan that run in FP32; the others run in INT8.
struct NodeAssignment {
  std::set<const onnx::Node*> floats;
  double time = 0;  // nanoseconds per sample, of all nodes that could run in INT8
};

// Computes the Pareto front of time and noise, from the fastest assignment to the one with all nodes in FP32.
// The noise that a node with weights adds to the outputs in INT8 is converted to a cost in time; each higher
// conversion factor moves more nodes to FP32, in groups that share quantize and dequantize ops. The FP32
// nodes of each assignment include those of the previous ones.
//
// `noise` has all nodes with weights that run in INT8 in `plan`; nodes with infinite noise are kept in FP32.
// If INT8 saves less time than the estimation error, or if the cost model is not used, INT8 times count as
// zero, so only the FP32 time is minimized.
std::vector<NodeAssignment> frontier(const graph::Index& index, const IntegerPlan& plan,
                                     const IntegerCandidates& candidates, const calibration::Ranges& ranges,
                                     const KernelCosts& costs,
                                     const std::map<const onnx::Node*, double>& noise, bool uses_cost_model);

}  // namespace ounce::plan
