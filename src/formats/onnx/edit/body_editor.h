// Edits one body (graph, subgraph or function) of a model: removes and adds nodes and tensors, and keeps the
// order of everything else.
//
// Positions refer to the original body. finish() builds the new node list, so edits do not shift each other's
// positions. Edit inner bodies before the bodies that contain them. The index may belong to another reading
// of the same file; that model must then outlive the edited one, which takes names from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {

using onnx::Bytes;

class BodyEditor {
 public:
  BodyEditor(onnx::Model& model, const graph::Index& index, std::size_t body, graph::Names& names);

  onnx::Model& model() { return model_; }
  graph::Names& names() { return names_; }

  // `place`: kFront, the position of the node to insert before, or the number of nodes to append.
  static constexpr std::size_t kFront = graph::kNone;
  void add_node(std::size_t place, onnx::Node node);
  void replace_node(std::size_t position) { replaced_.insert(position); }
  void remove_node(std::size_t position) { replace_node(position); }

  // Adds a constant for nodes added at `place`: an initializer, or a Constant node in functions, which have
  // no initializers. Returns its name.
  Bytes add_tensor(std::size_t place, onnx::Tensor tensor);
  Bytes add_integers(std::size_t place, const std::vector<std::int64_t>& values);
  // Adds a small constant (such as a shift by four) only once for each key.
  Bytes add_shared(const std::string& key, onnx::Tensor tensor);
  // The same for values computed at the front of the body: `make` adds the nodes and returns the value's
  // name.
  template <class Make>
  Bytes add_shared_value(const std::string& key, Make make) {
    const auto found = shared_.find(key);
    return found != shared_.end() ? found->second : shared_[key] = make();
  }

  void remove_initializer(std::size_t position) { removed_initializers_.insert(position); }
  const onnx::Node& node(std::size_t position) const;

  // Changes nodes and fields that are kept. These edits take effect at once, not in finish().
  onnx::Node& edit_node(std::size_t position) { return edit_nodes(body_)[position].edit(); }
  onnx::Graph& edit_graph() { return edit_graph(body_); }
  onnx::Function& edit_function();
  // Replaces a constant that this body defines: an initializer, or the tensor of a Constant node.
  void change_tensor(const graph::Value& value, onnx::Tensor tensor);

  void finish();

 private:
  bool uses_constant_nodes() const;
  onnx::Graph& edit_graph(std::size_t id);
  std::vector<onnx::Kept<onnx::Node>>& edit_nodes(std::size_t id);
  void finish_graph(onnx::Graph& graph);
  std::vector<onnx::Kept<onnx::Node>> merged(std::vector<onnx::Kept<onnx::Node>>& old);

  onnx::Model& model_;
  const graph::Index& index_;
  std::size_t body_;
  graph::Names& names_;
  std::map<std::size_t, std::vector<onnx::Node>> added_;  // by place
  std::set<std::size_t> replaced_, removed_initializers_;
  std::vector<onnx::Tensor> tensors_;
  std::map<std::string, Bytes> shared_;
};

onnx::Tensor make_tensor(ElementType type, std::vector<std::int64_t> dims, std::string bytes);

// Keeps a BodyEditor for every body that a pass touches, created on first use.
//
//   Editors editors(model, index);
//   editors.of(body).remove_node(3);
//   editors.finish();
//
// If a pass is abandoned before finish(), only the immediate edits (edit_node() and the like) remain.

class Editors {
 public:
  Editors(onnx::Model& model, const graph::Index& index) : model_(model), index_(index), names_(model) {}

  BodyEditor& of(std::size_t body) {
    return editors_.try_emplace(body, model_, index_, body, names_).first->second;
  }

  // Finishes inner bodies first, because owner positions refer to the original.
  void finish() {
    for (auto editor = editors_.rbegin(); editor != editors_.rend(); ++editor) editor->second.finish();
  }

 private:
  onnx::Model& model_;
  const graph::Index& index_;
  graph::Names names_;
  std::map<std::size_t, BodyEditor> editors_;
};

// Limits the memory and time of a pass to a multiple of the model's size. Each user of a shared weight may
// need its own copy; a hostile file could otherwise request a million copies of a large weight.

class WorkLimit {
 public:
  // Allows several times the bytes of all constants in the model.
  explicit WorkLimit(const graph::Index& index);

  // The reason for a node that is not changed because of the limit.
  static constexpr const char* kReason = "copies of shared weights would be many times larger than the model";

  // Returns false, and takes nothing, if less than `bytes` is left.
  bool take(std::uint64_t bytes);

 private:
  std::uint64_t left_ = 0;
};

}  // namespace ounce::passes
