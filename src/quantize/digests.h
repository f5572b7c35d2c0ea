// Digests of models for their statements (statement.h): of what a model computes, and of the file it was made
// of.
#pragma once

#include <string>

#include "base/thread_pool.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/plan/plan.h"
#include "model/model_file.h"

namespace ounce::quantization {

// A digest of the computation of a model: all of it except its metadata, whether its weights are in the file
// or in external data.
//
// The model is serialized as one file without metadata. The digest is the SHA-256 of the SHA-256 digests (32
// bytes each) of its stretches of 4 MiB, in order, so that threads share the work.

// Metadata may come and go, and weights may be packed into the file or out of it; any other change gives
// another digest. 64 hexadecimal digits.
std::string content_digest(const model::ModelFile& file, ThreadPool& pool);

// The same of XXH3, which can be forged: statements of version 1 have it. 32 hexadecimal digits.
std::string weak_content_digest(const model::ModelFile& file, ThreadPool& pool);

// The digest that a quantized model keeps of its source: of the model file and of the external files it
// names.
//
// Large float tensors are digested tile by tile, which the plan does while it reads them for their ranges;
// everything between them is digested here. The result does not depend on the plan: a tensor that the plan
// did not read is digested here in the same way. (The plan lists all float tensors; an empty one gives
// another digest, of plain pieces.)

std::string source_digest(const onnx::Model& source, const plan::Plan& plan, ThreadPool& pool);
// The same where there is no plan.
std::string source_digest(const model::ModelFile& source, ThreadPool& pool);

// What a statement has of the source, for those who do not trust whoever wrote it: the SHA-256 of the model
// file as `sha256sum` prints it. With external data, the SHA-256 of the lines with the digests of all files,
// the model first and then the data files in the order of their names:
//
//   sha256sum model.onnx a.data b.data | cut -c-64 | sha256sum
std::string source_sha256(const model::ModelFile& source, ThreadPool& pool);

}  // namespace ounce::quantization
