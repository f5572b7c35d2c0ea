#include "formats/onnx/edit/body_editor.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>

#include "base/cancel.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::passes {

onnx::Tensor make_tensor(ElementType type, std::vector<std::int64_t> dims, std::string bytes) {
  onnx::Tensor tensor;
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.data = onnx::Owned{std::make_shared<const std::string>(std::move(bytes))};
  return tensor;
}

BodyEditor::BodyEditor(onnx::Model& model, const graph::Index& index, std::size_t body, graph::Names& names)
    : model_(model), index_(index), body_(body), names_(names) {}

void BodyEditor::add_node(std::size_t place, onnx::Node node) {
  count_step();
  added_[place].push_back(std::move(node));
}

const onnx::Node& BodyEditor::node(std::size_t position) const {
  return *index_.bodies()[body_].nodes()[position];
}

// Functions have no initializers. Before IR 4 an initializer must also be an input, which is impossible in a
// subgraph.
bool BodyEditor::uses_constant_nodes() const {
  const graph::Body& body = index_.bodies()[body_];
  return body.function != nullptr || (model_.proto->ir_version < 4 && body.parent != graph::kNone);
}

Bytes BodyEditor::add_tensor(std::size_t place, onnx::Tensor tensor) {
  const Bytes name = names_.fresh("q");
  if (uses_constant_nodes()) {
    onnx::Node constant;
    constant.set_op(Op::kConstant);
    constant.outputs = {name};
    constant.attributes.emplace_back(onnx::make_tensor_attribute(model_, "value", std::move(tensor)));
    add_node(place, std::move(constant));
  } else {
    tensor.name = name;
    tensors_.push_back(std::move(tensor));
  }
  return name;
}

Bytes BodyEditor::add_integers(std::size_t place, const std::vector<std::int64_t>& values) {
  std::string bytes(values.size() * sizeof(std::int64_t), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return add_tensor(
      place, make_tensor(ElementType::kInt64, {static_cast<std::int64_t>(values.size())}, std::move(bytes)));
}

Bytes BodyEditor::add_shared(const std::string& key, onnx::Tensor tensor) {
  const auto found = shared_.find(key);
  if (found != shared_.end()) return found->second;
  return shared_[key] = add_tensor(kFront, std::move(tensor));
}

void BodyEditor::change_tensor(const graph::Value& value, onnx::Tensor tensor) {
  const auto change = [&](onnx::Kept<onnx::Tensor>& kept) {
    tensor.name = kept->name;
    kept.edit() = std::move(tensor);
  };
  if (value.initializer != graph::kNone) return change(edit_graph().initializers[value.initializer]);
  for (auto& attribute : edit_node(value.producer).attributes) {
    if (attribute->name == "value") return change(attribute.edit().tensors[0]);
  }
}

onnx::Graph& BodyEditor::edit_graph(std::size_t id) {
  count_step();
  const graph::Body& body = index_.bodies()[id];
  if (body.parent == graph::kNone) return model_.proto.edit().graph.edit();
  return edit_nodes(body.parent)[body.owner]
      .edit()
      .attributes[body.attribute]
      .edit()
      .graphs[body.position]
      ->edit();
}

onnx::Function& BodyEditor::edit_function() {
  return model_.proto.edit().functions[index_.bodies()[body_].position].edit();
}

std::vector<onnx::Kept<onnx::Node>>& BodyEditor::edit_nodes(std::size_t id) {
  const graph::Body& body = index_.bodies()[id];
  if (body.function != nullptr) return model_.proto.edit().functions[body.position].edit().nodes;
  return edit_graph(id).nodes;
}

std::vector<onnx::Kept<onnx::Node>> BodyEditor::merged(std::vector<onnx::Kept<onnx::Node>>& old) {
  std::vector<onnx::Kept<onnx::Node>> nodes;
  std::size_t count = old.size();
  for (const auto& [place, list] : added_) count += list.size();
  nodes.reserve(count);
  const auto take = [&](std::size_t place) {
    const auto found = added_.find(place);
    if (found == added_.end()) return;
    for (onnx::Node& node : found->second) nodes.emplace_back(std::move(node));
  };
  take(kFront);
  for (std::size_t i = 0; i < old.size(); ++i) {
    count_step();
    take(i);
    if (!replaced_.contains(i)) nodes.push_back(std::move(old[i]));
  }
  take(old.size());
  return nodes;
}

namespace {

// Runtimes ignore the declared type of an initializer, but not that of a node output that replaces it.
bool contradicts(const onnx::ValueInfo& info, const onnx::Tensor& tensor) {
  const onnx::ValueType declared = onnx::read_type(info.type);
  if (declared.kind.empty()) return false;
  if (declared.kind != "tensor" || declared.element != tensor.type) return true;
  const auto differs = [](const onnx::Dimension& dimension, std::int64_t dim) {
    return dimension.value >= 0 && dimension.value != dim;
  };
  return declared.has_shape && (declared.shape.size() != tensor.dims.size() ||
                                !std::equal(declared.shape.begin(), declared.shape.end(), tensor.dims.begin(),
                                            std::not_fn(differs)));
}

}  // namespace

void BodyEditor::finish_graph(onnx::Graph& graph) {
  graph.nodes = merged(graph.nodes);
  std::map<Bytes, const onnx::Tensor*> removed;
  std::vector<onnx::Kept<onnx::Tensor>> initializers;
  initializers.reserve(graph.initializers.size() + tensors_.size());
  for (std::size_t i = 0; i < graph.initializers.size(); ++i) {
    if (removed_initializers_.contains(i)) {
      removed.emplace(graph.initializers[i]->name, &*graph.initializers[i]);
    } else {
      initializers.push_back(std::move(graph.initializers[i]));
    }
  }
  std::erase_if(graph.value_infos, [&](const auto& info) {
    const auto found = removed.find(info->name);
    return found != removed.end() && contradicts(*info, *found->second);
  });
  // Before IR 4 every initializer is listed as an input.
  const bool lists_initializers = model_.proto->ir_version < 4;
  if (lists_initializers)
    std::erase_if(graph.inputs, [&](const auto& input) { return removed.contains(input->name); });
  for (onnx::Tensor& tensor : tensors_) {
    if (lists_initializers) {
      onnx::ValueInfo info;
      info.name = tensor.name;
      info.type = onnx::make_tensor_type(model_, tensor.type, tensor.dims);
      graph.inputs.emplace_back(std::move(info));
    }
    initializers.emplace_back(std::move(tensor));
  }
  graph.initializers = std::move(initializers);
}

void BodyEditor::finish() {
  if (added_.empty() && replaced_.empty() && removed_initializers_.empty() && tensors_.empty()) return;
  if (index_.bodies()[body_].function == nullptr) return finish_graph(edit_graph(body_));
  auto& nodes = edit_nodes(body_);
  nodes = merged(nodes);
}

// Several times the model, because detectors share the weights of their heads between five or six scales.
constexpr std::uint64_t kTimes = 8;

WorkLimit::WorkLimit(const graph::Index& index) {
  for (const graph::Body& body : index.bodies()) {
    if (body.graph != nullptr) {
      for (const auto& tensor : body.graph->initializers) left_ += kTimes * tensor->byte_count();
    }
    for (const auto& node : body.nodes()) {
      if (const onnx::Tensor* tensor = plan::constant_tensor(*node)) left_ += kTimes * tensor->byte_count();
    }
  }
}

bool WorkLimit::take(std::uint64_t bytes) {
  if (bytes > left_) return false;
  left_ -= bytes;
  return true;
}

}  // namespace ounce::passes
