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

// What a statement has of the source, for those who do not trust whoever wrote it: the SHA-256 of the model file
// as `sha256sum` prints it. With external data, the SHA-256 of the lines with the digests of all files, the
// model first and then the data files in the order of their names:
//
//   sha256sum model.onnx a.data b.data | cut -c-64 | sha256sum
std::string source_sha256(const onnx::Model& source, ThreadPool& pool);

}  // namespace ounce::make
