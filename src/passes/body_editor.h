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

#include "graph/index.h"
#include "graph/names.h"
#include "onnx/model.h"

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

}  // namespace ounce::passes
