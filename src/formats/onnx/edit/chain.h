// Builds a chain of nodes in a graph.
//
//   Chain chain(editor, place, codes);
//   chain.cast(ElementType::kFloat).node(Op::kMul, {scales}).finish(weight);
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"

namespace ounce::passes {

// Adds nodes one after another. Each takes the previous node's output as its first input.
class Chain {
 public:
  Chain(BodyEditor& editor, std::size_t place, Bytes start)
      : editor_(&editor), place_(place), value_(start) {}

  template <class... Attributes>
  Chain& node(Op op, const std::vector<Bytes>& more_inputs, Attributes&&... attributes) {
    flush_to_fresh_name();
    pending_.set_op(op);
    pending_.inputs = {value_};
    pending_.inputs.insert(pending_.inputs.end(), more_inputs.begin(), more_inputs.end());
    (pending_.attributes.emplace_back(std::forward<Attributes>(attributes)), ...);
    return *this;
  }
  Chain& cast(ElementType type) {
    return node(Op::kCast, {}, integer("to", static_cast<std::int64_t>(type)));
  }
  Chain& reshape(const std::vector<std::int64_t>& dims) {
    return node(Op::kReshape, {editor_->add_integers(place_, dims)});
  }
  Chain& shift(Bytes amount, const char* direction) {
    return node(Op::kBitShift, {amount},
                onnx::make_string_attribute(editor_->model(), "direction", direction));
  }
  // Set the name of the last node, or copy attributes of another node to it.
  Chain& named(Bytes name) {
    pending_.name = name;
    return *this;
  }
  Chain& copy_attributes(const onnx::Node& from) {
    for (const auto& attribute : from.attributes) pending_.attributes.push_back(onnx::copy_of(attribute));
    return *this;
  }
  onnx::Attribute integers(Bytes name, const std::vector<std::int64_t>& values) {
    return onnx::make_integers_attribute(editor_->model(), name, values);
  }
  onnx::Attribute integer(Bytes name, std::int64_t value) {
    return onnx::make_integer_attribute(editor_->model(), name, value);
  }

  // Returns the current value under a fresh name, so that other nodes can use it.
  Bytes value() {
    flush_to_fresh_name();
    return value_;
  }
  void finish(Bytes output) {
    pending_.outputs = {output};
    editor_->add_node(place_, std::move(pending_));
  }

 private:
  void flush_to_fresh_name() {
    if (pending_.op() == Op::kUnknown) return;
    value_ = editor_->names().fresh("v");
    finish(value_);
    pending_ = {};
  }

  BodyEditor* editor_;
  std::size_t place_;
  Bytes value_;
  onnx::Node pending_;
};

template <class T>
onnx::Tensor scalar(ElementType type, T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return make_tensor(type, {}, std::move(bytes));
}

// The result of a pass: the changes it made and the nodes it skipped.

// Why a node was not changed although it looked suitable.
struct Reason {
  std::string text;
};

struct Changes {
  std::size_t count = 0;                // places changed
  std::vector<std::string> left_alone;  // "node 'bn': its variance is negative"
};

// Base class of graph rewrites: owns the index of the original model and the editors, which apply all changes
// at the end. A derived class visits each node once:
//
//   Changes run() {
//     return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) { … leave(…) … });
//   }
class GraphRewrite {
 protected:
  explicit GraphRewrite(onnx::Model& model) : model_(model), index_(model), editors_(model, index_) {}

  template <class Visit>
  Changes edit(const Visit& visit) {
    graph::for_each_node(index_, visit);
    return finish();
  }
  Changes finish() {
    editors_.finish();
    return std::move(changes_);
  }
  void leave(std::size_t body, std::size_t position, const std::string& why) {
    changes_.left_alone.push_back(place_of(index_, body, position) + ": " + why);
  }

  onnx::Model& model_;
  graph::Index index_;
  Editors editors_;
  Changes changes_;
};

}  // namespace ounce::passes
