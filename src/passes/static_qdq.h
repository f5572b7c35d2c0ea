// Static arithmetic on integers, written as Q/DQ; see integer_ops.h.
#pragma once

#include "graph/index.h"
#include "passes/editors.h"
#include "plan/integer_plan.h"

namespace ounce::passes {

void put_static_qdq(Editors& editors, const graph::Index& index, const plan::IntegerPlan& plan);

}  // namespace ounce::passes
