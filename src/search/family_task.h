// What a model's outputs look like, and so how its quality is told (ounce/verify.h: Task). Shapes, types and
// the last ops tell; names do not.
#pragma once

#include <ounce/advise.h>

#include "graph/index.h"
#include "onnx/model.h"

namespace ounce::search {

// Fills in task and task_reason; both stay as they are where the outputs do not tell.
void propose_task(const onnx::Model& model, const graph::Index& index, FamilyFinding& finding);

}  // namespace ounce::search
