// A weight in its stored form, made while the file is written.
#pragma once

#include <memory>
#include <vector>

#include "onnx/model.h"
#include "onnx/production.h"
#include "plan/plan.h"

namespace ounce::passes {

template <class T>
onnx::Bytes as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// The tensors that hold a stored weight. `scales` is the codebook for codebook encodings; parts that an
// encoding does not have are missing.
enum class StoredPart : std::size_t { kCodes = 0, kScales = 1, kZeros = 2 };

struct StoredTensor {
  StoredPart part;
  onnx::Tensor tensor;  // Computed, without a name
};

// `model` must outlive the writing.
std::vector<StoredTensor> stored_tensors(const onnx::Model& model, const plan::Decision& decision);

// How two codes share a byte. Folded weights keep the second half of the tensor in the high nibbles, which
// ordinary ops undo cheaply; ONNX's own 4-bit types keep neighbours together.
bool packs_halves(const plan::Decision& decision);

}  // namespace ounce::passes
