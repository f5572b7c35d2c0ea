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

#include <set>

#include "graph/index.h"
#include "observe/ranges.h"
#include "onnx/model.h"
#include "plan/integer_plan.h"
#include "plan/kernel_costs.h"
#include "plan/seeds.h"

namespace ounce::plan {

// Of the nodes that compute on integers in `plan`. Empty when less is saved than such estimates can tell.
std::set<const onnx::Node*> faster_in_floats(const graph::Index& index, const IntegerPlan& plan,
                                             const Seeds& seeds, const observe::Ranges& ranges,
                                             const KernelCosts& costs);

}  // namespace ounce::plan
