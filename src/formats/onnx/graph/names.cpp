#include "formats/onnx/graph/names.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "formats/onnx/file/op_schemas.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"

namespace ounce::graph {

Names::Names(onnx::Model& model) : model_(model) {
  const onnx::ModelProto& proto = *model.proto;
  collect(*proto.graph);
  for (const auto& function : proto.functions) {
    taken_.insert(function->inputs.begin(), function->inputs.end());
    taken_.insert(function->outputs.begin(), function->outputs.end());
    collect(function->attribute_defaults);
    collect(function->nodes);
  }
  for (const auto& training : proto.training) {
    for (const auto& graph : training->initialization) collect(*graph);
    for (const auto& graph : training->algorithm) collect(*graph);
  }
}

void Names::collect(const onnx::Graph& graph) {
  for (const auto& tensor : graph.initializers) taken_.insert(tensor->name);
  for (const auto& sparse : graph.sparse_initializers) taken_.insert(sparse->values->name);
  for (const auto* list : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (const auto& info : *list) taken_.insert(info->name);
  }
  collect(graph.nodes);
}

void Names::collect(const std::vector<onnx::Kept<onnx::Node>>& nodes) {
  for (const auto& node : nodes) {
    taken_.insert(node->name);
    taken_.insert(node->inputs.begin(), node->inputs.end());
    taken_.insert(node->outputs.begin(), node->outputs.end());
    collect(node->attributes);
  }
}

void Names::collect(const std::vector<onnx::Kept<onnx::Attribute>>& attributes) {
  for (const auto& attribute : attributes) {
    for (const auto& graph : attribute->graphs) collect(**graph);
  }
}

onnx::Bytes Names::fresh(const std::string& prefix) {
  std::size_t& next = next_[prefix];
  while (true) {
    std::string name = prefix + std::to_string(next++);
    if (!taken_.contains(name)) {
      const onnx::Bytes kept = model_.intern(std::move(name));
      taken_.insert(kept);
      return kept;
    }
  }
}

namespace {

void check_parameters(const onnx::Node& node, std::size_t number, std::int64_t version,
                      const std::string& where) {
  if (!onnx::is_default_domain(node.domain())) return;
  const onnx::OpSchema* schema = onnx::find_op_schema({}, node.op_type(), version);
  if (schema == nullptr) return;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("node '{}' {}: it is no {} of opset {}", node_label(node, number), why,
                            node.op_type(), version),
                where);
  };
  for (std::size_t i = 0; i < schema->inputs.size(); ++i) {
    if (schema->needs(i) && (i >= node.inputs.size() || node.inputs[i].empty()))
      refuse(fmt::format("lacks its input {}", i));
  }
  if (!schema->takes(node.inputs.size())) refuse(fmt::format("has {} inputs", node.inputs.size()));
  if (node.outputs.size() < schema->least_outputs) refuse(fmt::format("has {} outputs", node.outputs.size()));
}

}  // namespace

void check_op_parameters(const onnx::Model& model, const Index& index) {
  const Functions functions(index);
  for (std::size_t id = 0; id < index.bodies().size(); ++id) {
    const Body& body = index.bodies()[id];
    const std::int64_t version = opset_of(model, index, id);
    for (std::size_t i = 0; i < body.nodes().size(); ++i) {
      const onnx::Node& node = *body.nodes()[i];
      if (functions.called_by(node) == kNone) check_parameters(node, i, version, body.path);
    }
  }
}

}  // namespace ounce::graph
