// What a model computes, as a digest: all of it but its metadata, wherever its weights stand.
#pragma once

#include <string>

#include "base/thread_pool.h"
#include "onnx/model.h"

namespace ounce::make {

// Metadata may come and go, and weights may be packed into the file or out of it; whoever changes anything
// else gets another digest. Takes the model as its metadata is taken out of it.
std::string content_digest(onnx::Model model, ThreadPool& pool);

}  // namespace ounce::make
