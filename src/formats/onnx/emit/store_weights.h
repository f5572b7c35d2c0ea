// A weight in its stored form, made while the file is written.
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

// The tensors that hold a stored weight. `scales` is the codebook for codebook encodings; parts that an
// encoding does not have are missing.
enum class StoredPart : std::size_t { kCodes = 0, kScales = 1, kZeros = 2 };

struct StoredTensor {
  StoredPart part;
  onnx::Tensor tensor;  // Computed, without a name
};

// `model` must outlive the writing.
std::vector<StoredTensor> stored_tensors(const onnx::Model& model, const plan::Decision& decision);

// How codes share bytes. Folded weights are packed in parts (kernels::Packing), which ordinary ops undo
// cheaply; ONNX's own 4-bit types keep neighbors together.
bool packs_parts(const plan::Decision& decision);

// Carries out a plan: every weight that the plan stores is replaced by its codes and the nodes that decode
// them.
//
//   weight ─ op        →        codes ─ decoder ─ op
//
// The value keeps its name, so the ops that use it stay as they are, byte for byte. Initializers are decoded
// at the front of their graph, Constant nodes where they stood; tables that are only looked up are decoded
// after the lookup.

// One entry a stored decision: the names of its tensors in the new model.
struct Stored {
  std::size_t decision;
  StoredNames names;
  std::shared_ptr<const onnx::Production> by = {};  // makes them, for few bits
};

// `source` is an untouched second reading of the model: its tensors feed the new ones while they are written.
// `plan` and the editors' index belong to it, so the model may be edited while they stay valid.
std::vector<Stored> store_weights(Editors& editors, const onnx::Model& source, const graph::Index& index,
                                  const plan::Plan& plan);

}  // namespace ounce::passes
