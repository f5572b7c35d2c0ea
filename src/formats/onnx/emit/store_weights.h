// Converts weights to their stored form while the file is written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/decoder.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::passes {

template <class T>
onnx::Bytes as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// The tensors of a stored weight. For codebook encodings `kScales` is the codebook. Parts that an encoding
// does not have are missing.
enum class StoredPart : std::size_t { kCodes = 0, kScales = 1, kZeros = 2 };

struct StoredTensor {
  StoredPart part;
  onnx::Tensor tensor;  // Computed, without a name
};

// `model` must outlive the writing of the file.
std::vector<StoredTensor> stored_tensors(const onnx::Model& model, const plan::Decision& decision);

// How sub-byte values share bytes. True: in parts (kernels::Packing), which ordinary ops unpack cheaply; used
// for weights folded at load. False: neighbors share a byte, as in ONNX's 4-bit types.
bool packs_parts(const plan::Decision& decision);

// Applies the storage part of a plan: every weight that the plan stores is replaced by its quantized values
// and the nodes that dequantize them.
//
//   weight ─ op        →        codes ─ decoder ─ op
//
// The value keeps its name, so the ops that use it do not change. Initializers are dequantized at the front
// of their graph, Constant nodes at their own position, and tables that are only looked up after the lookup.

// The names of the tensors of one stored decision in the new model.
struct Stored {
  std::size_t decision;
  StoredNames names;
  std::shared_ptr<const onnx::Production> by = {};  // produces the tensors of low-bit weights
};

// `source` is an unmodified second reading of the model, whose tensors are converted during the writing.
// `plan` and the editors' index belong to it, so they stay valid while the model is edited.
std::vector<Stored> store_weights(Editors& editors, const onnx::Model& source, const graph::Index& index,
                                  const plan::Plan& plan);

}  // namespace ounce::passes
