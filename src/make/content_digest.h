// What a model computes, as a digest: its file without the metadata, and its external data.
#pragma once

#include <string>

#include "base/thread_pool.h"
#include "onnx/model.h"

namespace ounce::make {

// Metadata may come and go; whoever changes anything else gets another digest.
std::string content_digest(const onnx::Model& model, ThreadPool& pool);

}  // namespace ounce::make
