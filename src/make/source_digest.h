// The digest that a quantized model keeps of its source: of the model file and of the external files it
// names.
//
// Large float tensors are digested tile by tile, which the plan does while it reads them for their ranges;
// everything between them is digested here. The result does not depend on the plan: a tensor that the plan
// did not read is digested here in the same way. (The plan lists all float tensors; an empty one gives
// another digest, of plain pieces.)
#pragma once

#include <string>

#include "base/thread_pool.h"
#include "onnx/model.h"
#include "plan/plan.h"

namespace ounce::make {

std::string source_digest(const onnx::Model& source, const plan::Plan& plan, ThreadPool& pool);

}  // namespace ounce::make
