// Arithmetic on integers whose scales are found while the model runs; see integer_ops.h.
#pragma once

#include "graph/index.h"
#include "passes/editors.h"
#include "passes/integer_parameters.h"
#include "plan/plan.h"

namespace ounce::passes {

void put_dynamic_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     IntegerParameters& parameters);

}  // namespace ounce::passes
