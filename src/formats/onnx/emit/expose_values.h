// Makes values of a model outputs of it, so that a runtime tells what they are.
//
//   x ─ Conv ─ h ─ Relu ─ y          x ─ Conv ─ h ─ Relu ─ y
//   outputs: y               →       outputs: y, h
//
// A value in a branch of an If leaves it as one more output of the If, level by level up to the main graph.
// Where the other branch runs there is no such value: it gives an empty tensor, and whoever reads the
// outputs skips it.
//
//   If(c) -> y                       If(c) -> y, v0                       outputs: y, v0
//     then_branch: x ─ Conv ─ h        then_branch: x ─ Conv ─ h          outputs: …, h
//     else_branch: …           →       else_branch: …, q0 = float32[0]    outputs: …, q0
//
// Both branches must agree about the type, so of the values in branches only those are seen of which
// ElementTypes knows that they are floats. A value that a branch takes from outside is seen where it is
// defined. Bodies of Loop and Scan are not looked into: what leaves them is stacked over the iterations,
// which fails in the middle of a run when a shape changes, and no file says that it will not. Neither are
// bodies of functions, which stand for many places at once, nor any branches below opset 11, where both have
// to give the same shape.
//
// No type is said for the new outputs: the runtime knows it.
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
  std::string output;  // of the main graph, or one of its inputs; in the main graph a value's own name
  ObservedValue value;
};

// Values that may want a range of their own: what goes into and comes out of the ops that have integer
// kernels or stand between them, unless it is constant. Sorted.
std::vector<ObservedValue> values_to_observe(const onnx::Model& model, const graph::Index& index);
// All values of float32 that can be seen and are not constant. Sorted.
std::vector<ObservedValue> float_values(const onnx::Model& model, const graph::Index& index);

// `values` are some of those to observe, each once; the result has their order. Those that are inputs or
// outputs of the main graph already are left as they are. `index` is the model's, which is another one
// afterwards, but bodies keep their numbers.
std::vector<Exposed> expose_values(onnx::Model& model, const graph::Index& index,
                                   const std::vector<ObservedValue>& values);

}  // namespace ounce::passes
