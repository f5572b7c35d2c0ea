// Which nodes of a static plan take less time in floats, the ways between floats and codes counted.
//
//   x ─ Conv ─ a ─ Conv ─ b ─ y      each Conv has its time in floats and on integers (kernel_costs.h);
//   floats become codes, and
//        F      ↑    I     ↑         codes floats, where the two kinds meet: at a, once for all who take its
//        codes, and at b
//             codes      floats
//
// What costs the least in all is a minimum cut (least_cut.h): integers on one side, floats on the other. So
// an island of integers that gains less than the ways in and out cost does not come up, and a slow node
// between integers stays there if the way to floats and back would take longer.
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

// A plan's nodes, divided into floats and integers.
struct NodeAssignment {
  std::set<const onnx::Node*> floats;
  double time = 0;  // nanoseconds for a sample, of all nodes that could compute on integers
};

// What makes less noise at the least time: every node with a weight has a price on integers for the noise
// that it brings to the outputs there, and with the price rises what stays in floats. So what is left to
// floats lies together, where that saves ways between floats and codes.
//
// From the fastest to all in floats; each has the floats of those before it. `noise` is of the nodes with
// weights that compute on integers in `plan`; one that is infinite keeps its node in floats throughout. If
// integers gain less than such estimates can tell, only what takes the least time in floats counts.
// Where costs are not weighed, that holds for every plan.
std::vector<NodeAssignment> frontier(const graph::Index& index, const IntegerPlan& plan,
                                     const IntegerCandidates& candidates, const calibration::Ranges& ranges,
                                     const KernelCosts& costs,
                                     const std::map<const onnx::Node*, double>& noise, bool uses_cost_model);

}  // namespace ounce::plan
