// Which nodes of a static plan take less time in floats, the ways between floats and codes counted.
//
//   x ─ Conv ─ a ─ Conv ─ b ─ y      each Conv has its time in floats and on integers (kernel_costs.h);
//   floats become codes, and
//        F      ↑    I     ↑         codes floats, where the two kinds meet: at a, once for all who take its
//        codes, and at b
//             codes      floats
//
// The assignment with the least total time is a minimum cut (plan/float_choice/min_cut.h): INT8 on one side,
// FP32 on the other. So a group of INT8 nodes that saves less than its conversions cost does not come up, and
// a slow node between INT8 nodes stays INT8 if converting to FP32 and back would take longer.
//
// For x86 CPUs; nothing was measured for others.
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

// Of the nodes that compute on integers in `plan`. Empty when less is saved than such estimates can tell.
std::set<const onnx::Node*> faster_in_floats(const graph::Index& index, const IntegerPlan& plan,
                                             const IntegerCandidates& candidates,
                                             const calibration::Ranges& ranges, const KernelCosts& costs);

// Which nodes of a plan run in FP32; the others run in INT8.
struct NodeAssignment {
  std::set<const onnx::Node*> floats;
  double time = 0;  // nanoseconds for a sample, of all nodes that could compute on integers
};

// The trade-off between time and noise, from the fastest assignment to the one with all nodes in FP32. The
// noise that a node with a weight brings to the outputs in INT8 has a price in time; each higher price moves
// more nodes to FP32, in groups that share their conversions. Each assignment contains the FP32 nodes of
// those before it.
//
// `noise` has the nodes with weights that run in INT8 in `plan`; an infinite noise keeps its node in FP32. If
// INT8 saves less time than such estimates can tell, or if the cost model is not used, INT8 times count as
// zero: then only the least FP32 time counts.
std::vector<NodeAssignment> frontier(const graph::Index& index, const IntegerPlan& plan,
                                     const IntegerCandidates& candidates, const calibration::Ranges& ranges,
                                     const KernelCosts& costs,
                                     const std::map<const onnx::Node*, double>& noise, bool uses_cost_model);

}  // namespace ounce::plan
