// Adds intermediate values to a model's outputs, so that they can be observed.
//
//   x ─ Conv ─ h ─ Relu ─ y          x ─ Conv ─ h ─ Relu ─ y
//   outputs: y               →       outputs: y, h
//
// A value in a branch of an If becomes one more output of the If, level by level up to the main graph. The
// other branch returns an empty tensor in its place, which readers of the outputs must skip.
//
//   If(c) -> y                       If(c) -> y, v0                       outputs: y, v0
//     then_branch: x ─ Conv ─ h        then_branch: x ─ Conv ─ h          outputs: …, h
//     else_branch: …           →       else_branch: …, q0 = float32[0]    outputs: …, q0
//
// Both branches must have the same type, so a value in a branch is exposed only if ElementTypes knows that it
// is a float. A value that a branch captures from outside is exposed where it is defined. Not exposed:
//   - values in Loop and Scan: outputs are stacked over iterations, which fails if a shape changes;
//   - values in functions, which are called from many places;
//   - values in branches below opset 11, where both branches must have the same shape.
//
// The new outputs have no declared type; the runtime infers it.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {

struct ObservedValue {
  std::size_t body = 0;  // of the index
  std::string name;      // in that body; the branches of an If may use one name for different values

  auto operator<=>(const ObservedValue&) const = default;
};

struct Exposed {
  std::string output;  // an output or input of the main graph; values of the main graph keep their names
  ObservedValue value;
};

// Values whose ranges a static plan may need: non-constant inputs and outputs of ops that have integer
// kernels or are between such ops. Sorted.
std::vector<ObservedValue> values_to_observe(const onnx::Model& model, const graph::Index& index);
// All non-constant float32 values that can be exposed. Sorted.
std::vector<ObservedValue> float_values(const onnx::Model& model, const graph::Index& index);

// `values` is a subset of the values to observe, without duplicates; the result has the same order. Values
// that already are inputs or outputs of the main graph are not changed. `index` is the index of the model
// before the call; body numbers are the same afterward.
std::vector<Exposed> expose_values(onnx::Model& model, const graph::Index& index,
                                   const std::vector<ObservedValue>& values);

}  // namespace ounce::passes
