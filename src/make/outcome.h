// A decision of the plan as the public API shows it.
#pragma once

#include <ounce/quantize.h>

#include "graph/index.h"
#include "plan/plan.h"

namespace ounce::make {

TensorOutcome outcome_of(const plan::Decision& decision, const graph::Index& index);

// Fills in what the result says of nodes and activations.
void describe_halves(const plan::HalfPlan& plan, const graph::Index& index, QuantizeResult& result);
void describe_integers(const plan::IntegerPlan& plan, const graph::Index& index, QuantizeResult& result);

}  // namespace ounce::make
