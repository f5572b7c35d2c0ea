// The element types of values as far as the file tells them, followed through the ops that keep a type.
//
//   w: float16 ─┐
//   x: ? ─── MatMul ─ h: ? ─ Reshape ─ y: ?           x, h and y are float16, as w is
//
// Values that an op gives the same type form a class, in both directions and through the branches of Ifs and
// the states of Loops; one known type tells that of the whole class. Nothing is guessed: a class of which
// nobody says anything stays unknown, and so does one of which the file says two things.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "graph/index.h"
#include "onnx/element_type.h"
#include "onnx/model.h"

namespace ounce::passes {

class InferredTypes {
 public:
  explicit InferredTypes(const graph::Index& index);

  // kUndefined when it is not known, or when the value is no tensor.
  onnx::ElementType type(std::size_t body, onnx::Bytes name) const;

 private:
  struct Fact {
    onnx::ElementType type = onnx::ElementType::kUndefined;
    bool is_contradicted = false;
  };

  void read_graph(std::size_t body);
  void read_node(std::size_t body, const onnx::Node& node);
  void join_with_owner(std::size_t body);
  std::size_t number(std::size_t body, onnx::Bytes name) const;
  std::size_t class_of(std::size_t value) const;
  void join(std::size_t a, std::size_t b);
  void declare(std::size_t value, onnx::ElementType type);

  const graph::Index& index_;
  std::unordered_map<const graph::Value*, std::size_t> numbers_;
  mutable std::vector<std::size_t> nearer_;  // a forest: one tree a class, its root is the class
  std::vector<Fact> facts_;                  // of classes
};

}  // namespace ounce::passes
