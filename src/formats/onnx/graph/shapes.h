// The shapes and the element types of values, as far as they follow from those that the file tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/element_type.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/op_schemas.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"

namespace ounce::graph {

// The shapes of values as far as the file tells them: declared ones, those of constants, and what is cast of
// them.

using Dims = std::vector<std::int64_t>;  // -1 where a dimension is not fixed

class Shapes {
 public:
  explicit Shapes(const Index& index);
  // Null when even the rank is not known.
  const Dims* of(std::size_t body, Bytes name) const;

 private:
  const Index& index_;
  std::unordered_map<const Value*, Dims> shapes_;
};

// The shapes of values in the main graph, inferred from those that the file tells, through the ops that
// networks with weights are made of. The shapes behind other ops are unknown.
class InferredShapes {
 public:
  // `known`: shapes that the file leaves open, of inputs above all. Its names must outlive this object.
  InferredShapes(const onnx::Model& model, const Index& index, std::unordered_map<Bytes, Dims> known = {});
  // A value of the main graph. Null when even the rank is not known.
  const Dims* of(Bytes name) const;

 private:
  void infer(const onnx::Node& node);
  Dims of_window(const onnx::Node& node, const Dims& input, const Dims& kernel, std::int64_t channels) const;
  Dims of_transposed_conv(const onnx::Node& node, const Dims& input, const Dims& weight) const;
  Dims of_concat(const onnx::Node& node) const;
  Dims of_matrix_product(const onnx::Node& node) const;
  Dims of_reshape(const onnx::Node& node, const Dims& input) const;
  Dims of_resize(const onnx::Node& node, const Dims& input) const;
  Dims broadcast(const onnx::Node& node) const;
  // Empty when it is not a constant of that type.
  std::vector<std::int64_t> integers(Bytes name) const;
  std::vector<float> floats(Bytes name) const;

  const onnx::Model& model_;
  const Index& index_;
  const Shapes declared_;
  std::unordered_map<Bytes, Dims> inferred_;
};

// The element types of values as far as the file tells them, followed through all ops that are known.
//
//   w: float16 ─┐
//   x: ? ─── MatMul ─ h: ? ─ Reshape ─ y: ?           x, h and y are float16, as w is
//
// Values that an op gives the same type form a class, in both directions, through the bodies of nodes and the
// calls of functions; one known type tells that of the whole class. Nothing is guessed: a class of which
// nobody says anything stays unknown, and so does one of which the file says two things.

// The ops of a model as it means them.
class Schemas {
 public:
  Schemas(const onnx::Model& model, const Index& index) : model_(model), index_(index), functions_(index) {}
  // Null for ops that nobody knows, and for calls of the model's functions.
  const onnx::OpSchema* of(std::size_t body, const onnx::Node& node) const;

 private:
  const onnx::Model& model_;
  const Index& index_;
  Functions functions_;
};

class ElementTypes {
 public:
  ElementTypes(const onnx::Model& model, const Index& index);

  // What somebody else knows of a value.
  void declare(std::size_t body, Bytes name, ElementType type);

  // kUndefined when it is not known, or when the value is no tensor.
  ElementType type(std::size_t body, Bytes name) const;

 private:
  struct Fact {
    ElementType type = ElementType::kUndefined;
    bool is_contradicted = false;
  };

  void read_graph(std::size_t body);
  void read_node(const Schemas& schemas, std::size_t body, const onnx::Node& node);
  void follow_calls(const std::vector<Passage>& calls);
  std::size_t number(std::size_t body, Bytes name) const;
  std::size_t class_of(std::size_t value) const;
  void join(std::size_t a, std::size_t b);
  void declare(std::size_t value, ElementType type);

  const Index& index_;
  std::unordered_map<const Value*, std::size_t> numbers_;
  mutable std::vector<std::size_t> nearer_;  // a forest: one tree a class, its root is the class
  std::vector<Fact> facts_;                  // of classes
};

}  // namespace ounce::graph
