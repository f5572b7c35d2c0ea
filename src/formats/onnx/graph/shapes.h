// Shapes and element types of values, as far as they follow from the file.
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

// Shapes of values without inference: declared shapes, those of constants, and those of their casts.

using Dims = std::vector<std::int64_t>;  // -1 for dynamic dimensions

class Shapes {
 public:
  explicit Shapes(const Index& index);
  // Null if the rank is unknown.
  const Dims* of(std::size_t body, Bytes name) const;

 private:
  const Index& index_;
  std::unordered_map<const Value*, Dims> shapes_;
};

// Shape inference for the main graph through the ops that are common in networks. Shapes after other ops are
// unknown.
class InferredShapes {
 public:
  // `known`: shapes of values (mainly inputs) that are dynamic in the file. The names must outlive this
  // object.
  InferredShapes(const onnx::Model& model, const Index& index, std::unordered_map<Bytes, Dims> known = {});
  // The shape of a value of the main graph. Null if the rank is unknown.
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
  // Empty if the value is not a constant of that type.
  std::vector<std::int64_t> integers(Bytes name) const;
  std::vector<float> floats(Bytes name) const;

  const onnx::Model& model_;
  const Index& index_;
  const Shapes declared_;
  std::unordered_map<Bytes, Dims> inferred_;
};

// Type inference: the element types of values, derived from declared types through all known ops.
//
//   w: float16 ─┐
//   x: ? ─── MatMul ─ h: ? ─ Reshape ─ y: ?           x, h and y are float16, as w is
//
// Values that must have the same type form a class. Types propagate in both directions, through subgraphs and
// function calls; one known type determines the whole class. A class without a known type, or with
// conflicting types, is unknown.

// Finds the schema of each op in the version that the model imports.
class Schemas {
 public:
  Schemas(const onnx::Model& model, const Index& index) : model_(model), index_(index), functions_(index) {}
  // Null for unknown ops and for calls of the model's functions.
  const onnx::OpSchema* of(std::size_t body, const onnx::Node& node) const;

 private:
  const onnx::Model& model_;
  const Index& index_;
  Functions functions_;
};

class ElementTypes {
 public:
  ElementTypes(const onnx::Model& model, const Index& index);

  // Adds the type of a value that is known from elsewhere.
  void declare(std::size_t body, Bytes name, ElementType type);

  // kUndefined if the type is unknown or the value is not a tensor.
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
  mutable std::vector<std::size_t> nearer_;  // union-find forest: each tree is a class, named by its root
  std::vector<Fact> facts_;                  // of classes
};

}  // namespace ounce::graph
