// Edits one body of a model: takes tensors out, puts nodes and tensors in, keeps the order of the rest.
//
// Positions are those of the original body; the new node list is built at the end by finish(), so edits do
// not disturb one another. Edit inner bodies before the ones around them. The index may be that of another
// reading of the same file, which then has to outlive the model: names are taken from it.
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

  // Where nodes are added: in front of all others, or in front or in place of one, or behind the last (whose
  // position is the number of nodes).
  static constexpr std::size_t kFront = graph::kNone;
  void add_node(std::size_t place, onnx::Node node);
  void replace_node(std::size_t position) { replaced_.insert(position); }
  void remove_node(std::size_t position) { replace_node(position); }  // with nothing in its place

  // A constant that nodes added at `place` may use: an initializer, or a Constant node where there can be
  // none (functions). Returns its name.
  Bytes add_tensor(std::size_t place, onnx::Tensor tensor);
  Bytes add_integers(std::size_t place, const std::vector<std::int64_t>& values);
  // The same small constant again and again (a shift by four, say) is added once.
  Bytes add_shared(const std::string& key, onnx::Tensor tensor);
  // The same for what nodes at the front make of constants: `make` adds them and returns their value's name.
  template <class Make>
  Bytes add_shared_value(const std::string& key, Make make) {
    const auto found = shared_.find(key);
    return found != shared_.end() ? found->second : shared_[key] = make();
  }

  void remove_initializer(std::size_t position) { removed_initializers_.insert(position); }
  const onnx::Node& node(std::size_t position) const;

  // These change what stays in its place, at once.
  onnx::Node& edit_node(std::size_t position) { return edit_nodes(body_)[position].edit(); }
  onnx::Graph& edit_graph() { return edit_graph(body_); }
  onnx::Function& edit_function();
  // The values of a constant that this body defines: an initializer, or the tensor of a Constant node.
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

// A BodyEditor for every body that a pass touches, made when it is first asked for.
//
//   Editors editors(model, index);
//   editors.of(body).remove_node(3);
//   editors.finish();
//
// A pass that is abandoned before finish() has changed nothing but what it changed at once.

class Editors {
 public:
  Editors(onnx::Model& model, const graph::Index& index) : model_(model), index_(index), names_(model) {}

  BodyEditor& of(std::size_t body) {
    return editors_.try_emplace(body, model_, index_, body, names_).first->second;
  }

  // Inner bodies first: their owners' positions are those of the original.
  void finish() {
    for (auto editor = editors_.rbegin(); editor != editors_.rend(); ++editor) editor->second.finish();
  }

 private:
  onnx::Model& model_;
  const graph::Index& index_;
  graph::Names names_;
  std::map<std::size_t, BodyEditor> editors_;
};

// Keeps what a pass computes and adds in proportion to the model. A weight may have many users, each of which
// wants a version of its own; a file must not get to have a large one copied for each of a million nodes.

class WorkLimit {
 public:
  // Several times the bytes of all constants in the model.
  explicit WorkLimit(const graph::Index& index);

  // Why something is left alone that would go beyond.
  static constexpr const char* kReason = "copies of what it shares with others would be many times the model";

  // False when there is not that much left; then nothing is taken.
  bool take(std::uint64_t bytes);

 private:
  std::uint64_t left_ = 0;
};

}  // namespace ounce::passes
