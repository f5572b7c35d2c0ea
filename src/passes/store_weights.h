// Carries out a plan: every weight that the plan stores is replaced by its codes and the nodes that decode
// them.
//
//   weight ─ op        →        codes ─ decoder ─ op
//
// The value keeps its name, so the ops that use it stay as they are, byte for byte. Initializers are decoded
// at the front of their graph, Constant nodes where they stood; tables that are only looked up are decoded
// after the lookup.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/index.h"
#include "onnx/model.h"
#include "passes/decoder.h"
#include "passes/editors.h"
#include "plan/plan.h"

namespace ounce::passes {

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

// Sets a metadata entry, replacing one of the same key.
void set_metadata(onnx::Model& model, const std::string& key, const std::string& value);

}  // namespace ounce::passes
