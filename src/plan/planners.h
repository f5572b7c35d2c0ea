// The two ways to plan integer arithmetic; integer_plan.h chooses between them.
#pragma once

#include "graph/index.h"
#include "observe/ranges.h"
#include "plan/integer_plan.h"
#include "plan/seeds.h"
#include "plan/selection.h"

namespace ounce::plan {

// Without ranges every value is taken to have one.
IntegerPlan plan_static(const graph::Index& index, const Recipe& recipe, const observe::Ranges* ranges,
                        Seeds& seeds, Selection& selection);
IntegerPlan plan_dynamic(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                         Seeds& seeds);

}  // namespace ounce::plan
