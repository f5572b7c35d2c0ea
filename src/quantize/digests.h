// Digests of models for provenance records (statement.h): of a model's computation, and of the files of its
// source.
#pragma once

#include <string>

#include "base/thread_pool.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/plan/plan.h"
#include "model/model_file.h"

namespace ounce::quantization {

// Returns the digest of a model's computation: everything except its metadata, with weights in the file or in
// external data. 64 hexadecimal digits.
//
// The model is serialized as one file without metadata. The digest is the SHA-256 of the SHA-256 digests (32
// bytes each) of its stretches of 4 MiB in order, which threads compute in parallel. Changing metadata, or
// moving weights into or out of the file, does not change the digest; any other change does.
std::string content_digest(const model::ModelFile& file, ThreadPool& pool);

// The same with XXH3, which is not secure against forgery. Only records of version 1 use it. 32 hexadecimal
// digits.
std::string weak_content_digest(const model::ModelFile& file, ThreadPool& pool);

// Returns the digest of the source that a quantized model records: of the model file and its external files.
//
// Large floating-point tensors are digested tile by tile while the plan reads them for their ranges;
// everything between them is digested here. The result does not depend on the plan: a tensor that the plan
// did not read is digested here in the same way. (The plan lists all floating-point tensors; an empty plan
// gives another digest, of plain pieces.)
std::string source_digest(const onnx::Model& source, const plan::Plan& plan, ThreadPool& pool);
// The same without a plan.
std::string source_digest(const model::ModelFile& source, ThreadPool& pool);

// Returns the digest of the source in a provenance record, which anyone can check without Ounce: the SHA-256
// of the model file as `sha256sum` prints it. With external data, the SHA-256 of the lines with the digests
// of all files, the model first and then the data files in the order of their names:
//
//   sha256sum model.onnx a.data b.data | cut -c-64 | sha256sum
std::string source_sha256(const model::ModelFile& source, ThreadPool& pool);

}  // namespace ounce::quantization
