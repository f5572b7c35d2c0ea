// A digest of the computation of a model: all of it except its metadata, whether its weights are in the file or
// in external data.
//
// The model is serialized as one file without metadata. The digest is the SHA-256 of the SHA-256 digests (32
// bytes each) of its stretches of 4 MiB, in order, so that threads share the work.
#pragma once

#include <string>

#include "base/thread_pool.h"
#include "onnx/model.h"

namespace ounce::make {

// Metadata may come and go, and weights may be packed into the file or out of it; any other change gives another
// digest. 64 hexadecimal digits. Takes the model as its metadata is taken out of it.
std::string content_digest(onnx::Model model, ThreadPool& pool);

// The same of XXH3, which can be forged: statements of version 1 have it. 32 hexadecimal digits.
std::string weak_content_digest(onnx::Model model, ThreadPool& pool);

}  // namespace ounce::make
