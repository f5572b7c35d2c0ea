// A model in a file of ours, for the runtime to load: nobody else knows it, and it goes away with its folder.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/thread_pool.h"
#include "onnx/model.h"

namespace ounce::onnx {

// Gives the bytes of the file and of its external data, if that became necessary. Throws Error{kIo}.
std::uint64_t write_temporary(const Model& model, const std::filesystem::path& file, ThreadPool& pool);

}  // namespace ounce::onnx
